//! The labels to draw lessons from: the newest ones, packed.

use std::collections::VecDeque;

use ludus_players::input_set::Inputs;
use ludus_players::lessons::Lessons;

/// Labels in a chunk. Chunks are filled one after the other and forgotten whole.
const CHUNK: usize = 4096;

/// The newest labels that have a network to learn them, up to a number.
#[derive(Clone, Debug)]
pub struct LabelMemory {
    /// All full but the last.
    chunks: VecDeque<Chunk>,
    /// Labels of the first chunk that are forgotten already.
    forgotten: usize,
    kept: usize,
    outputs: usize,
}

#[derive(Clone, Debug)]
struct Chunk {
    /// Class of each label.
    classes: Vec<u8>,
    lessons: Lessons,
}

impl LabelMemory {
    /// No labels yet; the newest `kept` will be, for networks with so many outputs.
    pub fn new(kept: usize, outputs: usize) -> Self {
        LabelMemory { chunks: VecDeque::new(), forgotten: 0, kept: kept.max(1), outputs }
    }

    /// Labels there are.
    pub fn len(&self) -> usize {
        let last = self.chunks.back().map_or(0, |chunk| chunk.classes.len());
        (self.chunks.len().saturating_sub(1) * CHUNK + last) - self.forgotten
    }

    /// Adds a label, and forgets the oldest when there are too many.
    pub fn add(&mut self, class: usize, inputs: &Inputs, chances: &[f32]) {
        if self.chunks.back().is_none_or(|chunk| chunk.classes.len() == CHUNK) {
            self.chunks.push_back(Chunk { classes: Vec::new(), lessons: Lessons::new(self.outputs) });
        }
        if let Some(chunk) = self.chunks.back_mut() {
            // A game has a handful of classes.
            chunk.classes.push(class as u8);
            chunk.lessons.push(inputs, chances);
        }
        if self.len() > self.kept {
            self.forgotten += 1;
            if self.forgotten == CHUNK {
                self.chunks.pop_front();
                self.forgotten = 0;
            }
        }
    }

    /// Adds label `index`, counted from the oldest, to the lessons of its class.
    pub fn copy(&self, index: usize, lessons: &mut [Lessons], inputs: &mut Inputs) {
        let place = self.forgotten + index;
        let (chunk, position) = (&self.chunks[place / CHUNK], place % CHUNK);
        let (indices, values) = chunk.lessons.inputs(position);
        inputs.clear();
        inputs.indices.extend_from_slice(indices);
        inputs.values.extend_from_slice(values);
        lessons[usize::from(chunk.classes[position])].push(inputs, chunk.lessons.target(position));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A label that says its number.
    fn add(memory: &mut LabelMemory, number: usize) {
        let mut inputs = Inputs::default();
        inputs.push(number % 7, number as f32);
        memory.add(number % 2, &inputs, &[0.5, number as f32]);
    }

    fn recalled(memory: &LabelMemory) -> Vec<usize> {
        let mut inputs = Inputs::default();
        (0..memory.len())
            .map(|index| {
                let mut lessons = [Lessons::new(2), Lessons::new(2)];
                memory.copy(index, &mut lessons, &mut inputs);
                let class = usize::from(lessons[0].is_empty());
                let number = lessons[class].target(0)[1];
                assert_eq!(number as usize % 2, class);
                assert_eq!(lessons[class].inputs(0).0, [number as u16 % 7]);
                number as usize
            })
            .collect()
    }

    #[test]
    fn it_keeps_the_newest_in_order_across_chunks() {
        for kept in [1, 3, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5] {
            let mut memory = LabelMemory::new(kept, 2);
            assert_eq!(memory.len(), 0);
            let added = 4 * CHUNK + 3;
            for number in 1..=added {
                add(&mut memory, number);
                assert_eq!(memory.len(), number.min(kept));
            }
            assert_eq!(recalled(&memory), (added + 1 - kept..=added).collect::<Vec<_>>());
            assert!(memory.chunks.len() <= kept / CHUNK + 2, "what is forgotten takes no room");
        }
    }
}
