//! Networks as ONNX models: the messages of its format that are needed, and how a network is said in them.
//!
//! Source: onnx.proto3 of the ONNX project, IR version 8, operators of version 13.

use ludus_players::weight_file::{Card, ClassWeights};
use prost::Message;

/// Version of the format, and of its operators.
const IR_VERSION: i64 = 8;
const OPERATORS: i64 = 13;
/// 32-bit floats, and whole numbers as attributes.
const FLOAT: i32 = 1;
const INTEGER: i32 = 2;

#[derive(Clone, PartialEq, Message)]
struct Model {
    #[prost(int64, tag = "1")]
    ir_version: i64,
    #[prost(string, tag = "2")]
    producer_name: String,
    #[prost(string, tag = "3")]
    producer_version: String,
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
    #[prost(message, repeated, tag = "8")]
    opset_import: Vec<OperatorSet>,
    #[prost(message, repeated, tag = "14")]
    metadata: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
struct OperatorSet {
    #[prost(string, tag = "1")]
    domain: String,
    #[prost(int64, tag = "2")]
    version: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Graph {
    #[prost(message, repeated, tag = "1")]
    nodes: Vec<Node>,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "5")]
    initializers: Vec<Tensor>,
    #[prost(message, repeated, tag = "11")]
    inputs: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    outputs: Vec<ValueInfo>,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(string, repeated, tag = "1")]
    inputs: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    outputs: Vec<String>,
    #[prost(string, tag = "4")]
    operator: String,
    #[prost(message, repeated, tag = "5")]
    attributes: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "3")]
    integer: i64,
    #[prost(int32, tag = "20")]
    kind: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Tensor {
    #[prost(int64, repeated, tag = "1")]
    dims: Vec<i64>,
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(string, tag = "8")]
    name: String,
    /// Little-endian.
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueInfo {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, optional, tag = "2")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, Message)]
struct Kind {
    #[prost(message, optional, tag = "1")]
    tensor: Option<TensorKind>,
}

#[derive(Clone, PartialEq, Message)]
struct TensorKind {
    #[prost(int32, tag = "1")]
    element: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "1")]
    dims: Vec<Dimension>,
}

#[derive(Clone, PartialEq, Message)]
struct Dimension {
    #[prost(oneof = "Extent", tags = "1, 2")]
    extent: Option<Extent>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Extent {
    #[prost(int64, tag = "1")]
    Fixed(i64),
    #[prost(string, tag = "2")]
    Named(String),
}

/// A network as an ONNX model: `inputs` `[batch, inputs]` to `probabilities` `[batch, outputs]`. What the file says of
/// itself goes along.
pub fn model(card: &Card, network: &ClassWeights) -> Vec<u8> {
    let mut nodes = Vec::new();
    let mut from = "inputs";
    let layers: &[(&str, &str)] = match network.hidden {
        0 => &[("output", "probabilities")],
        _ => &[("hidden", "activations"), ("output", "probabilities")],
    };
    for &(layer, to) in layers {
        let name = |what: &str| format!("{}.{layer}.{what}", network.class);
        let sums = format!("{layer} sums");
        nodes.push(Node {
            inputs: vec![from.into(), name("weight"), name("bias")],
            outputs: vec![sums.clone()],
            operator: "Gemm".into(),
            attributes: vec![Attribute { name: "transB".into(), integer: 1, kind: INTEGER }],
        });
        nodes.push(Node {
            inputs: vec![sums],
            outputs: vec![to.into()],
            operator: "Sigmoid".into(),
            attributes: Vec::new(),
        });
        from = to;
    }
    let tensors = network.tensors().into_iter().map(|(name, shape, values)| Tensor {
        dims: shape.iter().map(|&size| size as i64).collect(),
        data_type: FLOAT,
        name,
        raw_data: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    });
    let graph = Graph {
        nodes,
        name: network.class.clone(),
        initializers: tensors.collect(),
        inputs: vec![matrix("inputs", network.inputs)],
        outputs: vec![matrix("probabilities", network.outputs)],
    };
    Model {
        ir_version: IR_VERSION,
        producer_name: "ludus".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph: Some(graph),
        opset_import: vec![OperatorSet { domain: String::new(), version: OPERATORS }],
        metadata: metadata(card, network),
    }
    .encode_to_vec()
}

/// A matrix with as many rows as there are positions.
fn matrix(name: &str, columns: usize) -> ValueInfo {
    let dims = [Extent::Named("batch".into()), Extent::Fixed(columns as i64)];
    let dims = dims.map(|extent| Dimension { extent: Some(extent) }).to_vec();
    let tensor = TensorKind { element: FLOAT, shape: Some(Shape { dims }) };
    ValueInfo { name: name.into(), kind: Some(Kind { tensor: Some(tensor) }) }
}

fn metadata(card: &Card, network: &ClassWeights) -> Vec<Entry> {
    let pairs = [
        ("game", card.game.clone()),
        ("revision", card.revision.to_string()),
        ("inputs", card.inputs.clone()),
        ("class", network.class.clone()),
        ("run", card.run.clone()),
        ("version", card.version.to_string()),
        ("parent", card.parent.clone()),
    ];
    pairs.map(|(key, value)| Entry { key: key.into(), value }).to_vec()
}
