//! The choice of a kernel by what the processor can do.

use super::forward::{Add, Finish, Task};
use super::lanes::Lanes;
use super::scalar::Scalar;
use super::{Block, Network, Table};
use crate::input_set::{Inputs, Terms};

/// Computes networks with the instructions of one kind of processor. Which one makes no difference to the result, bit for
/// bit, only to the speed.
#[derive(Clone, Debug)]
pub struct Kernel {
    path: Path,
    /// Memory for the hidden units, kept from call to call.
    hidden: Vec<Block>,
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
        Kernel { path, hidden: Vec::new() }
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

    /// Computes the outputs of `network` for one position.
    ///
    /// # Panics
    /// If an input is not one of the network's, or `outputs` has another length than the network has outputs.
    pub fn forward(&mut self, network: &Network, inputs: &Inputs, outputs: &mut [f32]) {
        self.compute(network, &network.hidden_bias, inputs.all(), outputs);
    }

    /// Adds up the first inputs of a position, from which [`Kernel::finish`] goes on.
    ///
    /// # Panics
    /// If an input is not one of the network's.
    pub fn start(&self, network: &Network, first: Terms<'_>, sums: &mut Sums) {
        sums.0.resize(network.blocks, Block::default());
        self.run(Add { network, from: &network.hidden_bias, terms: first, to: &mut sums.0 });
    }

    /// Computes the outputs of `network` for a position, given the sums over its first inputs and the others. They are
    /// those of [`Kernel::forward`] to the bit, as the inputs are added in the same order.
    ///
    /// # Panics
    /// As [`Kernel::forward`], or if the sums are those of a network of another size.
    pub fn finish(&mut self, network: &Network, sums: &Sums, rest: Terms<'_>, outputs: &mut [f32]) {
        assert_eq!(sums.0.len(), network.blocks, "sums of another network");
        self.compute(network, &sums.0, rest, outputs);
    }

    fn compute(&mut self, network: &Network, from: &[Block], terms: Terms<'_>, outputs: &mut [f32]) {
        let mut hidden = std::mem::take(&mut self.hidden);
        if hidden.len() < network.blocks {
            hidden.resize(network.blocks, Block::default());
        }
        let all = self.run(Finish(Add { network, from, terms, to: &mut hidden[..network.blocks] }));
        self.hidden = hidden;
        outputs.copy_from_slice(&all.0[..network.outputs]);
    }

    fn run<T: Task>(&self, task: T) -> T::Result {
        match self.path {
            Path::Scalar(lanes) => task.run(lanes),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(lanes) => lanes.run(task),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(lanes) => lanes.run(task),
            #[cfg(target_arch = "aarch64")]
            Path::Neon(lanes) => lanes.run(task),
        }
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
        self.run(Sigmoid(x))
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
