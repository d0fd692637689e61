//! Candle's matrix product, kept on one core.
//!
//! Candle asks for the number of cores at every product. Without `RAYON_NUM_THREADS` in the environment it then reads
//! `/proc/cpuinfo`, which costs 40% of a training step on two cores and more on many, and it spreads the work over all
//! of them, which belong to the workers. So this calls what Candle calls, with one thread.

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};
use gemm::Parallelism;

/// The product of two matrices of 32-bit floats, which may be transposed views.
pub fn product(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    left.apply_op2_no_bwd(right, &Product)
}

struct Product;

impl CustomOp2 for Product {
    fn name(&self) -> &'static str {
        "product"
    }

    fn cpu_fwd(
        &self,
        s1: &CpuStorage,
        l1: &Layout,
        s2: &CpuStorage,
        l2: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (left, right) = (Matrix::new(s1, l1)?, Matrix::new(s2, l2)?);
        let (rows, inner, columns) = (left.rows, left.columns, right.columns);
        if inner != right.rows {
            bail!("a product of {rows} x {inner} and {} x {columns}", right.rows);
        }
        let mut out = vec![0.0; rows * columns];
        // SAFETY: `Matrix::new` made sure that all elements of both factors lie within their slices, and `out` has room
        // for `rows * columns` numbers, row by row. It is a fresh vector, so it overlaps neither.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                inner,
                out.as_mut_ptr(),
                1,
                columns as isize,
                false,
                left.numbers.as_ptr(),
                left.column_stride as isize,
                left.row_stride as isize,
                right.numbers.as_ptr(),
                right.column_stride as isize,
                right.row_stride as isize,
                0.0,
                1.0,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
        Ok((CpuStorage::F32(out), Shape::from((rows, columns))))
    }
}

/// A matrix within a slice.
struct Matrix<'a> {
    numbers: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// The matrix that `layout` describes; all its elements lie within the storage.
    fn new(storage: &'a CpuStorage, layout: &Layout) -> Result<Self> {
        let (rows, columns) = layout.shape().dims2()?;
        let &[row_stride, column_stride] = layout.stride() else { bail!("a matrix has two strides") };
        let numbers = storage.as_slice::<f32>()?.get(layout.start_offset()..).unwrap_or_default();
        let last = rows.saturating_sub(1) * row_stride + columns.saturating_sub(1) * column_stride;
        if rows * columns > 0 && last >= numbers.len() {
            bail!("a matrix of {rows} x {columns} goes beyond its {} numbers", numbers.len());
        }
        Ok(Matrix { numbers, rows, columns, row_stride, column_stride })
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    /// A matrix of small whole numbers, whose products are exact.
    fn matrix(rows: usize, columns: usize, seed: usize) -> Tensor {
        let numbers: Vec<f32> = (0..rows * columns).map(|i| ((i * 7 + seed) % 11) as f32 - 5.0).collect();
        Tensor::from_vec(numbers, (rows, columns), &Device::Cpu).unwrap()
    }

    #[test]
    fn it_is_what_candle_computes_transposed_or_not() {
        for (m, k, n) in [(1, 1, 1), (3, 5, 2), (17, 33, 9), (64, 80, 5)] {
            let (a, b) = (matrix(m, k, 1), matrix(k, n, 2));
            let (at, bt) = (matrix(k, m, 3), matrix(n, k, 4));
            let pairs = [
                (a.clone(), b.clone()),
                (at.t().unwrap(), b.clone()),
                (a.clone(), bt.t().unwrap()),
                (at.t().unwrap(), bt.t().unwrap()),
            ];
            for (left, right) in pairs {
                let expected = left.matmul(&right).unwrap().to_vec2::<f32>().unwrap();
                assert_eq!(
                    product(&left, &right).unwrap().to_vec2::<f32>().unwrap(),
                    expected,
                    "{m} {k} {n}"
                );
            }
        }
    }

    #[test]
    fn it_sees_a_part_of_a_matrix_as_that_part() {
        let part = matrix(6, 8, 5).narrow(0, 2, 3).unwrap().narrow(1, 1, 4).unwrap();
        let right = matrix(4, 2, 6);
        let expected = part.matmul(&right).unwrap().to_vec2::<f32>().unwrap();
        assert_eq!(product(&part, &right).unwrap().to_vec2::<f32>().unwrap(), expected);
    }

    #[test]
    fn factors_that_do_not_fit_are_refused() {
        let error = product(&matrix(2, 3, 0), &matrix(4, 2, 0)).unwrap_err();
        assert!(error.to_string().contains("2 x 3 and 4 x 2"), "{error}");
    }
}
