"""Which addresses may be connected to."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_V6 = ipaddress.IPv6Network

# What Python's own list, `is_global`, lets through in one version or another.
_NOT_PUBLIC: tuple[Network, ...] = (
    ipaddress.IPv4Network("192.0.0.0/24"),  # IETF protocol assignments
    ipaddress.IPv4Network("192.88.99.0/24"),  # 6to4 relays, given up
    ipaddress.IPv4Network("168.63.129.16/32"),  # a cloud's own service, seen only from inside
    _V6("::/96"),  # IPv4 in IPv6, given up
    _V6("64:ff9b:1::/48"),  # translation to IPv4 within one network
    _V6("100::/64"),  # is thrown away
    _V6("2001::/23"),  # IETF protocol assignments, Teredo among them
    _V6("3fff::/20"),  # documentation
    _V6("5f00::/16"),  # segment routing
    _V6("fec0::/10"),  # site-local, given up
)
_NAT64 = _V6("64:ff9b::/96")
_COMPATIBLE = _V6("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


def embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address leads to, if it does; else the address itself.

    So do mapped, compatible, 6to4, NAT64 and ISATAP addresses.
    """
    if isinstance(address, ipaddress.IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is not None:
        return inner
    is_isatap = (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP
    is_compatible = address in _COMPATIBLE and int(address) > 1
    if address in _NAT64 or is_compatible or is_isatap:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def is_public(address: Address) -> bool:
    """Whether an address is one of the open internet, for one host alone.

    An IPv6 address that leads to an IPv4 address must be public as both.
    """
    inner = embedded(address)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        return _is_open(address) and (inner is address or _is_open(inner))
    return _is_open(inner)


def _is_open(address: Address) -> bool:
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, ipaddress.IPv4Address) and address.is_reserved:
        return False
    return not any(address in network for network in _NOT_PUBLIC)


def read_address(text: str) -> Address | None:
    """An address as the resolver writes it, its zone left out; ``None`` if it is none."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


class AllowedAddresses:
    """The open internet, and what was allowed besides.

    Args:
        networks: Addresses and networks, such as ``"127.0.0.1"`` and ``"10.0.0.0/8"``.

    Raises:
        UsageError: One of them is no network.
    """

    def __init__(self, networks: Iterable[str] = ()) -> None:
        if isinstance(networks, str):
            raise UsageError(
                f"allowed_networks={networks!r} is one text; write allowed_networks=[{networks!r}]"
            )
        self._networks = tuple(_network(network) for network in networks)

    def allow(self, address: Address) -> bool:
        """Whether an address may be connected to."""
        meant = (address, embedded(address))  # however it is written
        if any(one in network for network in self._networks for one in meant):
            return True
        return is_public(address)


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"allowed_networks: {brief_repr(text)} is no network ({error}); write an address such "
            "as '127.0.0.1', or a network such as '10.0.0.0/8'"
        ) from error
