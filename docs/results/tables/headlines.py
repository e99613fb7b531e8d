"""The page of headlines: for each topic what was measured, the figure, the figure to compare with, the command."""

from tables.alignment import best_aer
from tables.quality import multi30k_score
from tables.records import markdown, percent, record, records
from tables.speed import bench_ratio, peers_ratio

STUDENT = "GRU, dot at the output, taught by the vote"
TAUGHT = "Transformer-tiny, taught by the vote"


def headlines() -> str:
    rows = [*_translation(), *_other_tasks(), *_speed(), *_trust()]
    return markdown(["what", "figure", "to compare with", "command"], rows)


def _tatoeba(prefix: str) -> str:
    found = (record("boxed")[f"{prefix}{pair}"] for pair in ("en-fr", "fr-en"))
    return " and ".join(f"{one['scores']['Tatoeba test']['bleu']:.1f}" for one in found)


def _translation() -> list[list[str]]:
    real = record("length_real")["systems"]
    longest, without = (real[name]["testlen"][-1]["bleu"] for name in ("additive-50", "vanilla-50"))
    ends = {one["name"]: one["figures"]["bleu"]["mean"] for one in record("mechanisms-europarl-8000")["variants"]}
    demo = next(run for run in record("demo")["runs"] if (run["pair"], run["seed"]) == ("en-fr", 0))
    return [
        [
            "[Long sentences](results/length.md): Europarl, 81–100 words",
            f"{longest:.1f} BLEU",
            f"{without:.1f} without attention",
            "`benchmarks/length_real.py`",
        ],
        [
            "[Multi30k](results/multi30k.md) en-de 2016, one model",
            f"{multi30k_score(TAUGHT, '2016')} BLEU",
            "41.02 (Wu et al.)",
            "`benchmarks/multi30k.py`",
        ],
        [
            "Multi30k en-de 2017, one recurrent model",
            f"{multi30k_score(STUDENT, '2017')} BLEU",
            "31.26 (LIUM-CVC)",
            "`benchmarks/multi30k.py`",
        ],
        [
            "[Mechanisms](results/mechanisms.md): Europarl, dot, input feeding",
            f"{ends['dot, fed']:.1f} BLEU",
            f"{ends['transformer']:.1f} Transformer, {ends['no attention']:.1f} no attention",
            "`regard compare`",
        ],
        [
            "[Models in the package](results/models.md), Tatoeba, en-fr and fr-en",
            f"{_tatoeba('')} BLEU",
            f"{_tatoeba('tatoeba-')}, the same size, Tatoeba alone without a teacher",
            "`benchmarks/boxed.py`",
        ],
        [
            "[The demo](results/demo.md), English to French, seed 0",
            f"{percent(demo['exact_match'], 1)} exact",
            f"alignment error rate {demo['aer']:.3f}",
            "`regard demo`",
        ],
    ]


def _other_tasks() -> list[list[str]]:
    spoken = record("pronunciation")
    words, languages = (
        next(one["wer"] for one in spoken[name].values() if one["models"] > 1)
        for name in ("cmudict test", "sigmorphon test")
    )
    return [
        [
            "[Word alignment](results/hansards.md): Hansards, no gold links",
            f"{100 * best_aer():.1f} % AER",
            "6.6 eflomal, 10.5 fast_align",
            "`benchmarks/hansards.py`",
        ],
        [
            "[Pronunciation](results/pronunciation.md): CMUdict, five models",
            f"{words:.2f} % WER",
            "20.24 (Toshniwal & Livescu)",
            "`benchmarks/pronunciation.py`",
        ],
        [
            "Pronunciation: 15 languages, five models",
            f"{languages:.2f} % WER",
            "14.99 (UBC)",
            "`benchmarks/pronunciation.py`",
        ],
    ]


def _speed() -> list[list[str]]:
    browser = record("web")
    together = browser["speed"]["greedy, 16 sentences together"]
    gpu = {one["name"]: one["milliseconds"] for one in record("bench_gpu")["training"][0]["timings"]}
    sizes = record("additive_kernel")["sizes"]
    fused, plain = (sizes[f"{name} 64 × 256 × 256 × 512 (value 512) bfloat16"] for name in ("fused", "plain"))
    textbook, joey = record("decoding")["runs"]
    large = record("decoding_gpu_256")["runs"]
    ahead = peers_ratio()
    prepared = record("prepare")["prepare"]
    joey_step = bench_ratio("bench_cpu", "multi30k", "ours with JoeyNMT's output, bf16", "JoeyNMT")
    return [
        [
            "[Training step](results/training-speed.md), CPU, Multi30k's size, bf16",
            f"{bench_ratio('bench_cpu', 'multi30k', 'ours, bf16', 'textbook loop'):.2f} × the textbook loop",
            f"{joey_step:.2f} × JoeyNMT",
            "`regard bench`",
        ],
        [
            "Training step, H200, the paper's size, bf16",
            f"{gpu['ours, bf16']:.1f} ms",
            f"{gpu['textbook loop']:.1f} textbook loop, {gpu['JoeyNMT']:.1f} JoeyNMT",
            "`regard bench --gpu`",
        ],
        [
            "[Additive attention](results/additive-attention.md), H200",
            f"{fused['ms']:.2f} ms, {fused['peak beyond results']:,.0f} MiB",
            f"{plain['ms']:.1f} ms, {plain['peak beyond results']:,.0f} MiB in plain torch",
            "`benchmarks/additive_kernel.py`",
        ],
        [
            "[Decoding](results/decoding.md), CPU, beam 5",
            f"{textbook['ratio']:.1f} × the textbook",
            f"{joey['ratio']:.2f} × JoeyNMT",
            "`benchmarks/decoding.py`",
        ],
        [
            "Decoding, CPU, int8, one thread: beam 5, greedy, one alone",
            " · ".join(f"{ahead[label]:.2f} ×" for label in ahead),
            "CTranslate2's speed (Transformer of equal size)",
            "`benchmarks/decoding_peers.py`",
        ],
        [
            "Decoding, H200, beam 5, batches of 256",
            f"{large[0]['ours']['sentences_per_second']:,.0f} sentences/s",
            f"{large[0]['ratio']:.0f} × the textbook, {large[1]['ratio']:.1f} × JoeyNMT",
            "`benchmarks/decoding.py --device cuda`",
        ],
        [
            f"[In the browser](results/web.md), {browser['model']}, greedy, 16 sentences together",
            f"{together['words_per_processor_second']:.0f} words/s of processor time",
            "346 published for Bergamot, wall clock, other hardware",
            "`benchmarks/web.py`",
        ],
        [
            f"[Preparing](results/preparing.md) {prepared['pairs']:,} pairs, 2 cores",
            f"{prepared['seconds']:.0f} s",
            "",
            "`benchmarks/prepare.py`",
        ],
    ]


def _trust() -> list[list[str]]:
    rounds = record("chaos")["faults"]
    rounds = rounds if isinstance(rounds, list) else [rounds]
    faults, broken = sum(one["faults"] for one in rounds), sum(len(one["broken"]) for one in rounds)
    what = "[Robustness](results/robustness.md): faults of the file system"
    return [[what, f"{broken} of {faults} did harm", "", "`benchmarks/chaos.py`"]]


def multi30k_published() -> str:
    """Published scores of one model each, and ours."""
    found = {(one["pair"], one["name"]): one["scores"] for one in records("multi30k") if one["seed"] in (0, None)}
    taught = multi30k_score(TAUGHT, "2016")
    return markdown(
        ["published", "BLEU", "ours"],
        [
            [
                "en-de 2017, recurrent model with attention (LIUM-CVC)",
                "31.26",
                f"**{multi30k_score(STUDENT, '2017')}** distilled GRU; "
                f"{multi30k_score('GRU, dot at the output', '2017')} without distillation; "
                f"{multi30k_score('GRU, additive, 3 vote', '2017')} ensemble of three GRUs",
            ],
            [
                "de-en 2016, bidirectional GRU with additive attention",
                "28.30",
                f"**{found['de-en', 'GRU, additive']['2016']:.2f}**",
            ],
            [
                "de-en 2016, any model (Transformer; spaCy's tokens there, the maintainers' here)",
                "36.52",
                f"**{found['de-en', 'Transformer-tiny']['2016']:.2f}**",
            ],
            [
                "en-de 2016, any model (Transformer-tiny of Wu et al.)",
                "41.02",
                f"**{taught}** distilled Transformer; **{multi30k_score(STUDENT, '2016')}** distilled GRU; "
                f"{multi30k_score('4 teachers vote', '2016')} ensemble of four; "
                f"{multi30k_score('Transformer-tiny, long', '2016')} without distillation, missed by 0.8",
            ],
        ],
    )
