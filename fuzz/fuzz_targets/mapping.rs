//! Two paths and a document: never a panic; what is mapped stands where it was sent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use od_core::artifact::{CreateRequest, DataPath, OutputMapping, Transform};
use od_core::ids::MappingPath;
use od_core::json::{Map, parse_message};
use od_core::refresh::{apply_mapping, resolve};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.splitn(3, '\n');
    let (from, to) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let Ok(output) = parse_message(lines.next().unwrap_or("null").as_bytes()) else { return };
    let _ = CreateRequest::parse(&output);
    let (Ok(from), Ok(to)) = (from.parse::<MappingPath>(), to.parse::<MappingPath>()) else { return };
    assert_eq!(from.to_string().parse::<MappingPath>().as_ref(), Ok(&from));
    for transform in Transform::ALL {
        let mapping = OutputMapping {
            data_paths: Some(vec![DataPath { from: from.clone(), to: to.clone() }]),
            transform: Some(*transform),
        };
        if let Ok(mapped) = apply_mapping(&Map::new(), &output, Some(&mapping), "source") {
            assert_eq!(mapped.data.len(), 1, "wrote outside `to`");
            assert!(resolve(&mapped.data.into(), &to).is_some());
        }
    }
});
