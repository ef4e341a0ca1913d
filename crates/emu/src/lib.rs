//! Real-time driver of links between network namespaces.
