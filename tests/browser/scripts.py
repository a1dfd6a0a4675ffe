"""JavaScript that the tests run in a page of JupyterLab or Notebook 7."""

from __future__ import annotations

NOTEBOOK = "const panel = window.jupyterapp.shell.currentWidget; const notebook = panel.content;"

# What is awaited in a page is looked for again and again: a page never says that it gives up.
_LOOK = """
  const later = new Promise((resolve) => setTimeout(() => resolve(null), 1000));
  return Promise.race([window.agtRuns[run], later]);
"""
BEGIN = f"""([run, argument]) => {{
  window.agtRuns ??= {{}};
  window.agtRuns[run] = (BODY)(argument).then((value) => ({{ value }}));{_LOOK}}}"""
GO_ON = f"(run) => {{{_LOOK}}}"

# ipykernel 7.0 to 7.3 may not notice a request that comes while a reply leaves, until the next
# message (ipython/ipykernel issue 1554). So that no test waits for what the kernel has overlooked,
# such a page sends any message every two seconds; at most five that are not answered, as a
# kernel that runs a blocking cell answers none.
NUDGE = f"() => {{ {NOTEBOOK} void panel.sessionContext.session.kernel.requestKernelInfo(); }}"
KEEP_AWAKE = f"""() => {{
  {NOTEBOOK}
  let owed = 0;
  const nudge = () => {{
    const kernel = panel.sessionContext.session?.kernel;
    if (kernel?.name !== "older" || kernel.connectionStatus !== "connected" || owed >= 5) return;
    owed += 1;
    kernel.requestKernelInfo().then(() => {{ owed -= 1; }}, () => {{ owed -= 1; }});
  }};
  setInterval(nudge, 2000);
}}"""
