//! Record types and their Parquet tables.
