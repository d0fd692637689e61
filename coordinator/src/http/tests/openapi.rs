//! Whether the description of the API is true: every answer is held against it, and neither has what the other lacks.

use axum::http::StatusCode;
use serde_json::Value;

use super::{Scripted, get, post};

fn description() -> Value {
    serde_json::from_str(include_str!("../openapi.json")).expect("JSON")
}

/// The schema that a reference means.
fn resolved<'a>(api: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(name) => {
            api.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name} is nowhere"))
        }
        None => schema,
    }
}

/// What is wrong with a value, as far as the keywords go that the description uses.
fn check(api: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let schema = resolved(api, schema);
    if let Some(choices) = schema["oneOf"].as_array() {
        let tried: Vec<_> = choices.iter().map(|choice| check(api, choice, value, place)).collect();
        let failed = || tried.iter().filter_map(|one| one.clone().err()).collect::<Vec<_>>().join("; or ");
        return if tried.iter().any(Result::is_ok) { Ok(()) } else { Err(failed()) };
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        other => return Err(format!("{place}: a schema of type {other}")),
    };
    let is = |kind: &&str| match *kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    };
    if !kinds.iter().any(is) {
        return Err(format!("{place}: {value} is no {}", kinds.join(" or ")));
    }
    if schema["enum"].as_array().is_some_and(|allowed| !allowed.contains(value)) {
        return Err(format!("{place}: {value} is none of {}", schema["enum"]));
    }
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        check(api, &schema["items"], item, &format!("{place}[{i}]"))?;
    }
    let Some(fields) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(format!("{place}: {name} is missing"));
        }
    }
    for (name, field) in fields {
        let described = match (&schema["properties"][name], &schema["additionalProperties"]) {
            (Value::Null, rest) if rest.is_object() => rest,
            (Value::Null, _) => return Err(format!("{place}: {name} is not described")),
            (property, _) => property,
        };
        check(api, described, field, &format!("{place}.{name}"))?;
    }
    Ok(())
}

#[tokio::test]
async fn every_answer_is_as_it_is_described() {
    let (api, view) = (description(), Scripted::new());
    for (path, methods) in api["paths"].as_object().expect("paths") {
        let filled = path
            .replace("{run}", "bg")
            .replace("{version}", "champion")
            .replace("{candidate}", "3")
            .replace("{series}", "1")
            .replace("{number}", "7");
        for (method, operation) in methods.as_object().expect("methods") {
            let query = if path.ends_with("/position") { "?position=4HPwATDgc/ABMA" } else { "" };
            let reply = match method.as_str() {
                "get" if path.ends_with("/events") => continue,
                "get" => get(&view, &format!("{filled}{query}")).await,
                "post" => {
                    let body = if path.ends_with("/stop") { "{}" } else { r#"{"game": "backgammon"}"# };
                    post(&view, &filled, body, None).await
                }
                other => panic!("{other} {path}"),
            };
            let answer = &operation["responses"][reply.status.as_str()];
            assert!(answer.is_object(), "{method} {filled} answers {} {:?}", reply.status, reply.text());
            let json = &answer["content"]["application/json"]["schema"];
            if json.is_object() {
                check(&api, json, &reply.json(), &filled).unwrap_or_else(|wrong| panic!("{wrong}"));
            }
        }
    }
    let missing = get(&view, "/api/v1/runs/nope").await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
    check(&api, &api["components"]["schemas"]["Error"], &missing.json(), "error").expect("as described");
    assert_eq!(get(&view, "/api/openapi.json").await.json(), api);
}

#[test]
fn every_route_is_described_and_every_schema_is_used() {
    let (api, text) = (description(), include_str!("../openapi.json"));
    for line in include_str!("../mod.rs").lines() {
        let Some(path) = line.trim().strip_prefix(".route(\"").and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        if path.starts_with("/assets") || path == "/favicon.svg" || path == "/api/openapi.json" {
            continue;
        }
        let methods = &api["paths"][path];
        assert!(methods.is_object(), "{path} is not described");
        assert_eq!(line.contains("get("), methods["get"].is_object(), "{path}");
        assert_eq!(line.contains("post("), methods["post"].is_object(), "{path}");
    }
    for name in api["components"]["schemas"].as_object().expect("schemas").keys() {
        assert!(text.contains(&format!("#/components/schemas/{name}\"")), "{name} is used nowhere");
    }
}
