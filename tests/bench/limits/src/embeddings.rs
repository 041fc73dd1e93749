//! Meaning without a network: a static table of embeddings, and a search through all of them by brute force. The table is a
//! folder in the form of model2vec.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use model2vec_rs::model::StaticModel;

use crate::report_many;

pub(crate) fn measure(table: &Path) -> anyhow::Result<()> {
    let began = Instant::now();
    let model = StaticModel::from_pretrained(table, None, Some(true), None)?;
    println!("-- embeddings, loaded in {:.1?}", began.elapsed());
    let long = "the dashboards look odd since this morning and nobody knows why ".repeat(8);
    for text in ["restart api", "can someone restart the api gateway in prod please, it returns 502", &long] {
        report_many(&format!("embedding of {} bytes", text.len()), 200, || {
            black_box(model.encode_single(black_box(text)));
        });
    }
    let wanted = model.encode_single("restart api gateway");
    for count in [100, 1_000, 10_000] {
        let known: Vec<f32> = (0..count * wanted.len()).map(|at| (at * 7_919 % 1_000) as f32 / 1_000.0).collect();
        report_many(&format!("nearest of {count} by brute force"), 20, || {
            black_box(nearest(&known, &wanted));
        });
    }
    Ok(())
}

fn nearest(known: &[f32], wanted: &[f32]) -> Option<usize> {
    let alike = |row: &[f32]| row.iter().zip(wanted).map(|(one, other)| one * other).sum::<f32>();
    let rows = known.chunks_exact(wanted.len()).map(alike).enumerate();
    rows.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at)
}
