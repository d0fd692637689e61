//! HTTP.

mod view;
