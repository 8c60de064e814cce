//! The tools cost a model little and promise it much: size, strictness, order.

use od_mcp::ToolName;

/// Bytes of one token at worst, in names, descriptions and inputs, and in outputs.
///
/// A public tokenizer (o200k_base, npm `gpt-tokenizer`) gave 3.66 and 4.26: 2,350 tokens and 1,984.
/// The bounds here are below the readings, so that they err on the strict side.
const BYTES_PER_TOKEN: [f64; 2] = [3.6, 4.2];

fn tokens(texts: impl IntoIterator<Item = String>, bytes_per_token: f64) -> f64 {
    let bytes: usize = texts.into_iter().map(|text| text.len()).sum();
    #[expect(clippy::cast_precision_loss, reason = "some thousand bytes")]
    let bytes = bytes as f64;
    bytes / bytes_per_token
}

fn asked(tool: ToolName) -> Vec<String> {
    let words = [tool.as_str(), tool.description()].map(str::to_owned);
    words.into_iter().chain([tool.input_schema().to_string()]).collect()
}

#[test]
fn names_descriptions_and_inputs_are_at_most_2850_tokens_with_outputs_4950() {
    let inputs = tokens(ToolName::ALL.into_iter().flat_map(asked), BYTES_PER_TOKEN[0]);
    let outputs =
        tokens(ToolName::ALL.map(|tool| tool.output_schema().to_string()), BYTES_PER_TOKEN[1]);
    println!("inputs {inputs}, outputs {outputs}");
    assert!(inputs <= 2_850.0, "inputs {inputs}");
    assert!(inputs + outputs <= 4_950.0, "inputs {inputs}, outputs {outputs}");
}
