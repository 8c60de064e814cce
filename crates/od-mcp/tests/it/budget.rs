//! The tools cost a model little and promise it much: size, strictness, order.

use od_mcp::ToolName;

/// Bytes of one token at worst.
///
/// `xtask/mcp-clients/run.py` counts with a public tokenizer (o200k_base): 1,887 and 3,852 tokens,
/// 3.67 bytes each in names, descriptions and inputs, 3.78 in outputs. The bound here is below both
/// readings, so that it errs on the strict side.
const BYTES_PER_TOKEN: f64 = 3.65;

fn tokens(texts: impl IntoIterator<Item = String>) -> f64 {
    let bytes: usize = texts.into_iter().map(|text| text.len()).sum();
    #[expect(clippy::cast_precision_loss, reason = "some thousand bytes")]
    let bytes = bytes as f64;
    bytes / BYTES_PER_TOKEN
}

fn asked(tool: ToolName) -> Vec<String> {
    let words = [tool.as_str(), tool.description()].map(str::to_owned);
    words.into_iter().chain([tool.input_schema().to_string()]).collect()
}

#[test]
fn names_descriptions_and_inputs_are_below_2500_tokens_with_outputs_below_4000() {
    let inputs = tokens(ToolName::ALL.into_iter().flat_map(asked));
    let outputs = tokens(ToolName::ALL.map(|tool| tool.output_schema().to_string()));
    assert!(inputs < 2_500.0, "inputs {inputs}");
    assert!(inputs + outputs < 4_000.0, "inputs {inputs}, outputs {outputs}");
}
