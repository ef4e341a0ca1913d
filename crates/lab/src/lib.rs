//! A laboratory of network namespaces, built by batched netlink.
