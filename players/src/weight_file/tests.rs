use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, TensorView, serialize};

use super::*;

fn shape(class: &str, inputs: usize, hidden: usize, outputs: usize) -> Shape {
    Shape { class: class.to_owned(), inputs, hidden, outputs }
}

fn sample() -> WeightFile {
    let card = Card {
        game: "backgammon".to_owned(),
        revision: 1,
        inputs: "tesauro-198".to_owned(),
        run: "first".to_owned(),
        version: 12,
        parent: Digest::of(b"v11").to_string(),
        created_at: 1_795_993_386,
        counters: BTreeMap::from([("games".to_owned(), 4000), ("steps".to_owned(), 77)]),
    };
    WeightFile::fresh(card, &[shape("contact", 6, 3, 5), shape("race", 4, 2, 5)], 7).unwrap()
}

/// The sample's tensors and metadata as the safetensors crate sees them, changed by `change`, then written by it.
fn rewritten(
    change: impl FnOnce(&mut HashMap<String, String>, &mut BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>),
) -> Vec<u8> {
    let bytes = sample().to_bytes().unwrap();
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let mut metadata = header.metadata().clone().unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut parts: BTreeMap<_, _> = tensors
        .tensors()
        .into_iter()
        .map(|(name, view)| (name, (view.dtype(), view.shape().to_vec(), view.data().to_vec())))
        .collect();
    change(&mut metadata, &mut parts);
    let views = parts.iter().map(|(name, (dtype, shape, data))| {
        (name.clone(), TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    serialize(views, Some(metadata)).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    WeightFile::from_bytes(bytes, "x.safetensors").unwrap_err().to_string()
}

fn refusal_of_metadata(key: &str, value: &str) -> String {
    refusal(&rewritten(|metadata, _| {
        metadata.insert(key.to_owned(), value.to_owned());
    }))
}

#[test]
fn a_file_that_was_written_reads_back_the_same() {
    let bytes = sample().to_bytes().unwrap();
    assert_eq!(WeightFile::from_bytes(&bytes, "x").unwrap(), sample());
    assert_eq!(sample().to_bytes().unwrap(), bytes);
}

#[test]
fn the_bytes_of_a_format_never_change() {
    // Versions are known by the sha256 of their bytes: if this fails, the format needs a new number.
    let digest = Digest::of(&sample().to_bytes().unwrap()).to_string();
    assert_eq!(digest, "5fde4a47e73a960ddc45c2210b0e27abdd04fb482e313d0a244a930aa0e196bf");
}

#[test]
fn networks_without_a_hidden_layer_are_read_as_they_were_written_alone_and_among_others() {
    for hidden in [0, 3] {
        let card = Card { game: "backgammon".to_owned(), ..Card::default() };
        let file =
            WeightFile::fresh(card, &[shape("contact", 6, 0, 2), shape("race", 4, hidden, 2)], 7).unwrap();
        assert_eq!(WeightFile::from_bytes(&file.to_bytes().unwrap(), "x").unwrap(), file);
        let flat = &file.networks[0];
        assert_eq!((flat.hidden_weight.len(), flat.output_weight.len(), flat.tensors().len()), (0, 12, 2));
        assert!(file.describe().contains("6-2, 14 weights"), "{}", file.describe());
    }
}

#[test]
fn the_architecture_is_the_kind_of_its_networks() {
    let flat = r#"{"kind":"sigmoid","networks":[{"class":"contact","inputs":6,"hidden":3,"outputs":5}]}"#;
    assert!(refusal_of_metadata("architecture", flat).contains("architecture = \"sigmoid\""));
}

#[test]
fn files_of_the_safetensors_crate_are_read_whatever_their_order() {
    let bytes = rewritten(|_, _| {});
    assert_eq!(WeightFile::from_bytes(&bytes, "x").unwrap(), sample());
}

#[test]
fn fresh_weights_depend_on_the_seed_alone_and_stay_in_range() {
    let shapes = [shape("contact", 198, 80, 5)];
    let fresh = |seed| WeightFile::fresh(Card::default(), &shapes, seed).unwrap();
    assert_eq!(fresh(1), fresh(1));
    assert_ne!(fresh(1), fresh(2));
    let weights = &fresh(1).networks[0].hidden_weight;
    let bound = 1.0 / 198f32.sqrt();
    assert!(weights.iter().all(|w| w.abs() <= bound));
    assert!(weights.iter().any(|&w| w > 0.99 * bound) && weights.iter().any(|&w| w < -0.99 * bound));
}

#[test]
fn a_truncated_file_is_refused_wherever_it_ends() {
    let bytes = sample().to_bytes().unwrap();
    for length in 0..bytes.len() {
        assert!(refusal(&bytes[..length]).starts_with("x.safetensors: not a weight file, or cut short"));
    }
}

#[test]
fn noise_is_refused() {
    assert!(refusal(b"PK\x03\x04 this is some other file").contains("not a weight file"));
    assert!(refusal(&[0xff; 400]).contains("not a weight file"));
}

#[test]
fn a_safetensors_file_of_another_program_is_refused() {
    let bytes = rewritten(|metadata, _| metadata.clear());
    assert_eq!(
        refusal(&bytes),
        "x.safetensors: its metadata lacks \"format_version\": a safetensors file, but not written by ludus"
    );
}

#[test]
fn an_unknown_format_version_is_refused() {
    assert!(refusal_of_metadata("format_version", "2").contains("weight file format \"2\""));
}

#[test]
fn metadata_that_makes_no_sense_is_refused_by_name() {
    assert!(refusal_of_metadata("revision", "-1").contains("revision = \"-1\""));
    assert!(refusal_of_metadata("created_at", "yesterday").contains("created_at = \"yesterday\""));
    assert!(refusal_of_metadata("counters", "[1]").contains("counters = \"[1]\""));
    assert!(refusal_of_metadata("architecture", "{}").contains("architecture = \"{}\""));
    let convolution = r#"{"kind":"convolution","networks":[]}"#;
    assert!(refusal_of_metadata("architecture", convolution).contains("architecture = \"convolution\""));
    let missing = refusal(&rewritten(|metadata, _| {
        metadata.remove("run");
    }));
    assert!(missing.contains("lacks \"run\""));
}

#[test]
fn absurd_architectures_are_refused() {
    let with = |networks: &str| {
        refusal_of_metadata(
            "architecture",
            &format!(r#"{{"kind":"sigmoid-sigmoid","networks":[{networks}]}}"#),
        )
    };
    assert!(with("").contains("the list of networks is empty"));
    assert!(
        with(r#"{"class":"contact","inputs":0,"hidden":3,"outputs":5}"#)
            .contains("number of inputs is empty")
    );
    let huge = with(r#"{"class":"contact","inputs":6,"hidden":1099511627776,"outputs":5}"#);
    assert!(huge.contains("number of hidden units is 1099511627776, more than the 16384 allowed"), "{huge}");
    assert!(
        with(r#"{"class":"contact","inputs":6,"hidden":3,"outputs":17}"#).contains("number of outputs is 17")
    );
    assert!(
        with(r#"{"class":"a.b","inputs":6,"hidden":3,"outputs":5}"#).contains("no name for a position class")
    );
    let race = r#"{"class":"race","inputs":4,"hidden":2,"outputs":5}"#;
    assert!(with(&format!("{race},{race}")).contains("each name once"));
}

#[test]
fn tensors_must_be_those_of_the_architecture() {
    let missing = refusal(&rewritten(|_, tensors| {
        tensors.remove("race.hidden.bias");
    }));
    assert!(missing.contains("tensor race.hidden.bias is missing"));
    let extra = refusal(&rewritten(|_, tensors| {
        tensors.insert("race.policy.bias".to_owned(), (Dtype::F32, vec![1], vec![0; 4]));
    }));
    assert!(extra.contains("tensor race.policy.bias belongs to no network"));
    let turned = refusal(&rewritten(|_, tensors| {
        tensors.get_mut("contact.hidden.weight").unwrap().1 = vec![6, 3];
    }));
    assert!(turned.contains("tensor contact.hidden.weight has shape [6, 3], not [3, 6]"));
    let half = refusal(&rewritten(|_, tensors| {
        tensors.insert("contact.hidden.bias".to_owned(), (Dtype::BF16, vec![3], vec![0; 6]));
    }));
    assert!(half.contains("tensor contact.hidden.bias holds BF16 numbers"));
}

#[test]
fn half_the_bytes_hold_weights_to_eleven_bits_and_what_was_read_from_them_does_not_change_again() {
    let whole = sample();
    let bytes = whole.to_half_bytes().unwrap();
    let half = WeightFile::from_bytes(&bytes, "half").unwrap();
    assert_eq!(half.card, whole.card);
    let numbers = |file: &WeightFile| {
        let tensors = file.networks.iter().flat_map(ClassWeights::tensors);
        tensors.flat_map(|(_, _, values)| values.to_vec()).collect::<Vec<f32>>()
    };
    let (before, after) = (numbers(&whole), numbers(&half));
    assert_ne!(before, after);
    for (before, after) in before.into_iter().zip(&after) {
        assert!((before - after).abs() <= (before.abs() / 2048.0).max(3e-8), "{before} became {after}");
    }
    assert_eq!(half.to_half_bytes().unwrap(), bytes);
    let saved = whole.to_bytes().unwrap().len() - bytes.len();
    // Some digits of the header are fewer, too.
    assert!((2 * after.len()..2 * after.len() + 64).contains(&saved), "{saved} bytes less");

    let mut large = sample();
    large.networks[1].output_bias[0] = 70_000.0;
    let refused = large.to_half_bytes().unwrap_err().to_string();
    assert!(refused.contains("race.output.bias, number 0, is 70000"), "{refused}");
}

#[test]
fn weights_that_are_not_finite_are_found_and_named() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e9] {
        let bytes = rewritten(|_, tensors| {
            let data = &mut tensors.get_mut("race.output.weight").unwrap().2;
            data[4 * 7..4 * 8].copy_from_slice(&value.to_le_bytes());
        });
        assert!(refusal(&bytes).contains(&format!("tensor race.output.weight, number 7, is {value}")));
    }
    let mut diverged = sample();
    diverged.networks[0].hidden_bias[2] = f32::NAN;
    let refused = diverged.to_bytes().unwrap_err().to_string();
    assert!(
        refused.starts_with("v12 of run first: tensor contact.hidden.bias, number 2, is NaN"),
        "{refused}"
    );
}

#[test]
fn saving_replaces_the_whole_file_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v12.safetensors");
    std::fs::write(&path, "older content").unwrap();
    let saved = sample().save(&path).unwrap();
    let (file, digest) = WeightFile::read(&path).unwrap();
    assert_eq!((file, digest), (sample(), saved));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_cannot_be_read_or_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none").join("v1.safetensors");
    let read = WeightFile::read(&path).unwrap_err().to_string();
    assert!(read.contains("v1.safetensors: cannot be read"), "{read}");
    let written = sample().save(&path).unwrap_err().to_string();
    assert!(written.contains("v1.safetensors: cannot be written"), "{written}");
    assert!(WeightFile::read(folder.path()).unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn what_is_no_file_is_not_replaced_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let within = folder.path().join("within");
    std::fs::create_dir(&within).unwrap();
    let refused = |path: &Path, why: &str| {
        let early = check_target(path).unwrap_err().to_string();
        assert!(early.contains(why), "{early}");
        assert_eq!(save_bytes(path, b"bytes").unwrap_err().to_string(), early);
    };
    refused(&within, "it is a folder");
    refused(&folder.path().join("new/"), "names no file");
    refused(Path::new(".."), "it is a folder");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(&within).unwrap().count(), 0);
    check_target(&within.join("new")).unwrap();
    let nowhere = check_target(&folder.path().join("none").join("new")).unwrap_err().to_string();
    assert!(nowhere.contains("new: cannot be written"), "{nowhere}");

    // A folder in which nothing can be made, with which root, too, can do nothing.
    #[cfg(target_os = "linux")]
    assert!(check_target(Path::new("/proc/new")).unwrap_err().to_string().contains("cannot be written"));

    #[cfg(unix)]
    {
        // In a folder of the test's own: a device would be harmed by a failure.
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        refused(&socket, "not a file");
    }
}

#[test]
fn a_failed_save_leaves_the_older_file_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v12.safetensors");
    std::fs::write(&path, "older content").unwrap();
    let mut diverged = sample();
    diverged.networks[1].output_bias[0] = f32::INFINITY;
    diverged.save(&path).unwrap_err();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "older content");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_description_tells_what_the_weights_are() {
    let text = sample().describe();
    for part in
        ["backgammon, rules revision 1", "contact  6-3-5, 41 weights", "v12 of run first", "games    4000"]
    {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn digests_are_read_as_they_are_written() {
    let digest = Digest::of(b"abc");
    let text = digest.to_string();
    assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(text.parse(), Ok(digest));
    for wrong in ["", &text[1..], &text.replace('b', "g"), &"é".repeat(32)] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
}
