//! Matrix as a platform.
#![recursion_limit = "256"]
