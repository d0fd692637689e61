//! The choice of a kernel by what the processor can do.

use super::scalar::Scalar;
use super::{Block, Network, forward};
use crate::input_set::Inputs;

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
        if self.hidden.len() < network.blocks {
            self.hidden.resize(network.blocks, Block::default());
        }
        let hidden = &mut self.hidden[..network.blocks];
        let all = match self.path {
            Path::Scalar(lanes) => forward::forward(lanes, network, inputs, hidden),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(lanes) => lanes.forward(network, inputs, hidden),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(lanes) => lanes.forward(network, inputs, hidden),
            #[cfg(target_arch = "aarch64")]
            Path::Neon(lanes) => lanes.forward(network, inputs, hidden),
        };
        outputs.copy_from_slice(&all.0[..network.outputs]);
    }

    /// The sigmoid of sixteen numbers, as the kernel computes it.
    #[cfg(test)]
    pub(super) fn sigmoid(&self, x: Block) -> Block {
        use super::lanes::Lanes;
        fn apply<L: Lanes>(lanes: L, x: Block) -> Block {
            let mut result = x;
            lanes.store(forward::sigmoid(lanes, lanes.load(&x)), &mut result);
            result
        }
        match self.path {
            Path::Scalar(lanes) => apply(lanes, x),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(lanes) => apply(lanes, x),
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(lanes) => apply(lanes, x),
            #[cfg(target_arch = "aarch64")]
            Path::Neon(lanes) => apply(lanes, x),
        }
    }
}
