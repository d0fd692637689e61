use ludus_config::{Learn, Optimizer as Kind};
use ludus_players::weight_file::{Card, WeightFile};
use tempfile::TempDir;

use super::*;

fn checkpoint(games: u64) -> Checkpoint {
    let shape = |class: &str, inputs| Shape { class: class.into(), inputs, hidden: 3, outputs: 2 };
    let networks = vec![shape("contact", 5), shape("race", 4)];
    let fresh = WeightFile::fresh(Card::default(), &networks, games).unwrap();
    let students = fresh.networks.iter().enumerate().map(|(class, weights)| {
        let network = Network::from_weights(weights);
        let kind = if class == 0 { Kind::AdamW } else { Kind::Sgd };
        let learn = Learn { optimizer: kind, weight_decay: 0.01, ..Learn::default() };
        let mut student = Student::new(network, &learn);
        let gradient: Vec<f32> = (0..student.average.parameters.len()).map(|i| i as f32 - 7.5).collect();
        student.optimizer.step(student.network.parameters_mut(), &gradient, 0.01);
        student.average = Average { steps: 99, parameters: gradient };
        student.averaged_since = Some(1_200_000);
        student
    });
    let students = students.collect();
    let mut ledger = Ledger { games, steps: 77, version: 3, publishing: Some(12), ..Ledger::default() };
    (0..games).for_each(|number| assert!(ledger.seen.insert(9, 2 * number)));
    ledger.done.insert("17-0".into(), None);
    ledger.done.insert("18-0".into(), Some("no batch".into()));
    let origin = Origin {
        run: "first".into(),
        stream: "first-1".into(),
        game: "race".into(),
        revision: 1,
        inputs: "one-hot".into(),
        networks,
    };
    Checkpoint { origin, ledger, students }
}

fn folder() -> (TempDir, CheckpointFolder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = CheckpointFolder::open(&dir.path().join("deep/first")).unwrap();
    (dir, folder)
}

fn found(checkpoint: Checkpoint, number: u64, passed_over: bool) -> Found {
    Found { checkpoint, number, passed_over }
}

#[test]
fn everything_comes_back_bit_for_bit() {
    let (_dir, mut folder) = folder();
    let saved = checkpoint(5);
    assert_eq!(folder.newest(&saved.origin).unwrap(), None);
    folder.save(&saved).unwrap();
    assert_eq!(folder.newest(&saved.origin).unwrap(), Some(found(saved, 1, false)));
}

#[test]
fn the_last_two_are_kept_and_numbers_go_on_after_a_restart() {
    let (_dir, mut folder) = folder();
    for games in 0..4 {
        folder.save(&checkpoint(games)).unwrap();
    }
    let (path, origin) = (folder.path().to_owned(), checkpoint(0).origin);
    assert_eq!(folder.numbers().unwrap(), [4, 3]);
    fs::write(path.join(".checkpoint-0000000005.safetensors.1.2.part"), b"cut short").unwrap();
    drop(folder);
    let mut folder = CheckpointFolder::open(&path).unwrap();
    assert_eq!(folder.written(), 4);
    assert!(fs::read_dir(&path).unwrap().all(|entry| !entry.unwrap().path().ends_with(".part")));
    folder.save(&checkpoint(9)).unwrap();
    assert_eq!(folder.numbers().unwrap(), [5, 4]);
    assert_eq!(folder.newest(&origin).unwrap().unwrap().checkpoint.ledger.games, 9);
}

#[test]
fn any_damage_is_noticed_and_the_one_before_serves() {
    let bytes = checkpoint(5).to_bytes();
    assert_eq!(Checkpoint::from_bytes(&bytes), Ok(checkpoint(5)));
    for at in (0..bytes.len()).step_by(13).chain([bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x04;
        let found = Checkpoint::from_bytes(&damaged);
        assert!(found.is_err() || found == Ok(checkpoint(5)), "byte {at} of {}", bytes.len());
    }
    for length in (0..bytes.len()).step_by(29) {
        assert!(Checkpoint::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }

    let (_dir, mut folder) = folder();
    folder.save(&checkpoint(1)).unwrap();
    folder.save(&checkpoint(2)).unwrap();
    fs::write(folder.file(2), &bytes[..bytes.len() / 2]).unwrap();
    let origin = checkpoint(0).origin;
    assert_eq!(folder.newest(&origin).unwrap(), Some(found(checkpoint(1), 1, true)));
    fs::write(folder.file(1), b"").unwrap();
    let error = folder.newest(&origin).unwrap_err();
    assert!(matches!(error, CheckpointError::AllDamaged { .. }), "{error}");
}

#[test]
fn checkpoints_of_another_run_or_size_are_refused() {
    let (_dir, mut folder) = folder();
    folder.save(&checkpoint(1)).unwrap();
    let origin = checkpoint(0).origin;
    let other = Origin { run: "second".into(), ..origin.clone() };
    // A run of the same name under another coordinator.
    let elsewhere = Origin { stream: "first-2".into(), ..origin.clone() };
    let mut larger = origin;
    larger.networks[1].hidden = 4;
    for wanted in [other, elsewhere, larger] {
        let error = folder.newest(&wanted).unwrap_err();
        assert!(matches!(error, CheckpointError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("run first (first-1: race revision 1, inputs one-hot"), "{error}");
    }
}

#[test]
fn one_trainer_holds_the_folder() {
    let (_dir, folder) = folder();
    let error = CheckpointFolder::open(folder.path()).unwrap_err();
    assert!(matches!(error, CheckpointError::InUse { .. }), "{error}");
}

#[test]
fn checkpoints_of_before_there_were_labels_can_be_read() {
    let saved = checkpoint(3);
    // What they knew, in the order they had.
    let mut ledger = serde_json::to_value(&saved.ledger).unwrap();
    for new in ["labels", "label_lessons"] {
        assert!(ledger.as_object_mut().unwrap().remove(new).is_some());
    }
    assert_eq!(serde_json::from_value::<Ledger>(ledger).unwrap(), saved.ledger);

    let bytes = saved.to_bytes();
    let weights = saved.students[1].network.weights();
    let parameters =
        [weights.hidden_weight, weights.hidden_bias, weights.output_weight, weights.output_bias].concat();
    let found = SafeTensors::deserialize(&bytes).unwrap();
    let found = found.tensor("race.parameters").unwrap().data().as_chunks().0.iter().copied();
    assert_eq!(found.map(f32::from_le_bytes).collect::<Vec<_>>(), parameters);
}

/// A checkpoint as it was written before there were averages.
fn without_averages(checkpoint: &Checkpoint) -> Vec<u8> {
    let bytes = checkpoint.to_bytes();
    let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
    let mut state: serde_json::Value =
        serde_json::from_str(&header.metadata().as_ref().unwrap()["state"]).unwrap();
    state["format"] = 1.into();
    state.as_object_mut().unwrap().remove("averaged").unwrap();
    let state = state.to_string();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let names = checkpoint.students.iter().flat_map(tensors).map(|(name, _)| name);
    let views: Vec<_> = names
        .filter(|name| !name.ends_with(".average"))
        .map(|name| (name.clone(), file.tensor(&name).unwrap()))
        .collect();
    let sum = sum(&state, views.iter().map(|(_, view)| view.data()));
    let metadata = HashMap::from([("state".to_owned(), state), ("sha256".to_owned(), sum)]);
    safetensors::serialize(views, Some(metadata)).unwrap()
}

#[test]
fn a_checkpoint_from_before_there_were_averages_goes_on_with_its_weights() {
    let mut saved = checkpoint(5);
    let read = Checkpoint::from_bytes(&without_averages(&saved)).unwrap();
    for student in &mut saved.students {
        student.average = Average::new(student.network.parameters());
    }
    assert_eq!(read, saved);
}
