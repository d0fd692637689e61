//! The choice of a kernel by what the processor can do.

use super::forward::{Add, Outputs, Task};
use super::lanes::Lanes;
use super::scalar::Scalar;
use super::{Block, LANES, Network, Table};
use crate::input_set::{Inputs, Terms};

/// Computes networks with the instructions of one kind of processor. Which one makes no difference to the result, bit for
/// bit, only to the speed.
#[derive(Clone, Debug)]
pub struct Kernel {
    path: Path,
    /// The positions taken up, whose outputs are not computed yet.
    waiting: Waiting,
    /// Outputs, one position after the other, filled up to whole vectors.
    outputs: Vec<f32>,
}

/// Positions, one after the other.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// The sums of their hidden units over their first inputs.
    sums: Vec<Block>,
    /// Their other inputs.
    inputs: Inputs,
    /// Where those of each end.
    ends: Vec<usize>,
}

impl Waiting {
    fn clear(&mut self) {
        self.sums.clear();
        self.inputs.clear();
        self.ends.clear();
    }

    fn push(&mut self, sums: &[Block], rest: Terms<'_>) {
        self.sums.extend_from_slice(sums);
        self.inputs.indices.extend_from_slice(rest.indices);
        self.inputs.values.extend_from_slice(rest.values);
        self.ends.push(self.inputs.indices.len());
    }
}

/// What a processor can do.
#[derive(Clone, Copy, Debug)]
enum Path {
    Scalar(Scalar),
    #[cfg(target_arch = "x86_64")]
    Avx2(super::avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(super::avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(super::neon::Neon),
}

impl Path {
    /// Computes something with these instructions.
    fn run<T: Task>(self, task: T) -> T::Result {
        match self {
            Path::Scalar(lanes) => task.run(lanes),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(lanes) => lanes.run(task),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(lanes) => lanes.run(task),
            #[cfg(target_arch = "aarch64")]
            Path::Neon(lanes) => lanes.run(task),
        }
    }
}

impl Kernel {
    /// The fastest kernel of this processor.
    pub fn best() -> Kernel {
        Kernel::available().pop().unwrap_or_else(Kernel::scalar)
    }

    /// The kernel of every processor.
    pub fn scalar() -> Kernel {
        Kernel::new(Path::Scalar(Scalar))
    }

    /// Every kernel of this processor, the fastest last.
    pub fn available() -> Vec<Kernel> {
        let mut kernels = vec![Kernel::scalar()];
        #[cfg(target_arch = "x86_64")]
        {
            kernels.extend(super::avx2::Avx2::detect().map(|proof| Kernel::new(Path::Avx2(proof))));
            kernels.extend(super::avx512::Avx512::detect().map(|proof| Kernel::new(Path::Avx512(proof))));
        }
        #[cfg(target_arch = "aarch64")]
        kernels.extend(super::neon::Neon::detect().map(|proof| Kernel::new(Path::Neon(proof))));
        kernels
    }

    fn new(path: Path) -> Kernel {
        Kernel { path, waiting: Waiting::default(), outputs: Vec::new() }
    }

    /// Its name: `scalar`, `avx2`, `avx512` or `neon`.
    pub fn name(&self) -> &'static str {
        match self.path {
            Path::Scalar(_) => "scalar",
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Path::Neon(_) => "neon",
        }
    }

    /// Computes the outputs of `network` for one position, as if none was waiting.
    ///
    /// # Panics
    /// If an input is not one of the network's, or `outputs` has another length than the network has outputs.
    pub fn forward(&mut self, network: &Network, inputs: &Inputs, outputs: &mut [f32]) {
        self.waiting.clear();
        self.waiting.push(&network.hidden_bias, inputs.all());
        outputs.copy_from_slice(self.finish(network));
    }

    /// Adds up the first inputs of positions, from which [`Kernel::add`] goes on.
    ///
    /// # Panics
    /// If an input is not one of the network's.
    pub fn start(&self, network: &Network, first: Terms<'_>, sums: &mut Sums) {
        sums.0.clone_from(&network.hidden_bias);
        let ends = &[first.indices.len()];
        self.path.run(Add { network, terms: first, ends, sums: &mut sums.0 });
    }

    /// Takes up a position, given the sums over its first inputs and the others: [`Kernel::finish`] computes its outputs,
    /// together with those of all others that were taken up.
    ///
    /// # Panics
    /// If the sums are those of a network of another size.
    pub fn add(&mut self, network: &Network, sums: &Sums, rest: Terms<'_>) {
        assert_eq!(sums.0.len(), network.blocks, "sums of another network");
        self.waiting.push(&sums.0, rest);
    }

    /// The outputs of the positions that were taken up for `network` since the last time, one position after the other. They
    /// are those of [`Kernel::forward`] to the bit, as each is computed by the same operations in the same order.
    ///
    /// # Panics
    /// If an input is not one of the network's, or a position was taken up for a network of another size.
    pub fn finish(&mut self, network: &Network) -> &[f32] {
        let Waiting { sums, inputs, ends } = &mut self.waiting;
        let outputs = ends.len() * network.outputs;
        let whole = outputs.next_multiple_of(LANES);
        if self.outputs.len() < whole {
            self.outputs.resize(whole, 0.0);
        }
        let add = Add { network, terms: inputs.all(), ends, sums };
        self.path.run(Outputs { add, outputs: &mut self.outputs[..whole] });
        self.waiting.clear();
        &self.outputs[..outputs]
    }

    /// Computes the outputs of a network without a hidden layer for one position.
    ///
    /// # Panics
    /// If an input is not one of the network's, or `outputs` has another length than the network has outputs.
    pub fn look_up(&self, table: &Table, inputs: Terms<'_>, outputs: &mut [f32]) {
        let all = self.sigmoid(table.sums(inputs));
        outputs.copy_from_slice(&all.0[..table.outputs()]);
    }

    /// The sigmoid of sixteen numbers.
    pub(super) fn sigmoid(&self, x: Block) -> Block {
        self.path.run(Sigmoid(x))
    }
}

/// Computes the sigmoid of sixteen numbers.
struct Sigmoid(Block);

impl Task for Sigmoid {
    type Result = Block;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Block {
        let mut result = self.0;
        lanes.store(super::forward::sigmoid(lanes, lanes.load(&self.0)), &mut result);
        result
    }
}

/// What the first inputs of a position add up to in each hidden unit, the bias included.
#[derive(Clone, Debug, Default)]
pub struct Sums(Vec<Block>);
