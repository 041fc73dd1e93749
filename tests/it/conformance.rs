//! The same rules on every platform, through the real binary. `trace` holds that the core decides the same whatever the
//! platform is, `capabilities` that what a platform declares works and what it does not declare is not there, `ac` are the
//! approval conformance tests, `drawn` is what people see, `sealed` a day in
//! an encrypted room, and `suggested` what they are offered while they type.

mod ac;
mod capabilities;
mod drawn;
mod sealed;
mod suggested;
mod trace;
