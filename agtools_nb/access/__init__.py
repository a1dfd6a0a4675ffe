"""Who may call what: capabilities, policies, hooks and approvals."""
