//! The tools cost a model little and promise it much: size, strictness, order.

use od_mcp::ToolName;
use serde_json::Value;

/// Bytes of one token at worst, of whole definitions without and with the schemas of their answers.
///
/// A public tokenizer (o200k_base, npm `gpt-tokenizer`) gave 3.85 and 3.95: 2,692 tokens and 4,265. The bounds
/// here are below the readings, so that they err on the strict side.
const BYTES_PER_TOKEN: [f64; 2] = [3.8, 3.9];

fn tokens(definitions: &[Value], bytes_per_token: f64) -> f64 {
    let bytes = Value::from(definitions).to_string().len();
    #[expect(clippy::cast_precision_loss, reason = "some thousand bytes")]
    let bytes = bytes as f64;
    bytes / bytes_per_token
}

#[test]
fn definitions_are_at_most_2800_tokens_and_with_their_answers_4500() {
    let whole = ToolName::ALL.map(ToolName::definition);
    let mut asked = whole.clone();
    for definition in &mut asked {
        definition.as_object_mut().unwrap().remove("outputSchema");
    }
    let (asked, all) = (tokens(&asked, BYTES_PER_TOKEN[0]), tokens(&whole, BYTES_PER_TOKEN[1]));
    println!("asked {asked}, in all {all}");
    assert!(asked <= 2_800.0, "asked {asked}");
    assert!(all <= 4_500.0, "in all {all}");
}
