#!/bin/bash
# usage: make.sh NAME...   makes the dumps of that name anew; ../README.md says what each holds.
# The paths of the programs and of the packages get into the dumps. So work in a neutral folder,
# WORK, where the environments are: env-jax, env-jax-0.4.13, env-tpu, env-gpu, env-tf.
set -euo pipefail
programs=$(cd "$(dirname "$0")" && pwd)
data=$(dirname "$programs")
WORK=${WORK:-/home/user}
EVERY_PASS="--xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
DOT_AND_PROTO="--xla_dump_hlo_as_dot --xla_dump_hlo_as_proto"

run() { # ENVIRONMENT PROGRAM FLAGS: a fresh $WORK/dump
    rm -rf "$WORK/dump"
    more_into_dump "$@"
}

more_into_dump() { # the same, with what is there; PROGRAM may have arguments
    cp "$programs/${2%% *}" "$WORK"
    (cd "$WORK" && XLA_FLAGS="--xla_dump_to=$WORK/dump $3" "env-$1/bin/python" $2)
}

plain() { # NAME: keep the dump as files
    rm -rf "${data:?}/$1"
    cp -r "$WORK/dump" "$data/$1"
}

packed() { # NAME [FOLDER]: keep the dump as an archive that is the same for the same files
    tar -C "$WORK" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
        --transform="s,^dump,$1," --use-compress-program='zstd -19 --long=27' \
        -cf "${2:-$data}/$1.tar.zst" dump
}

export JAX_PLATFORMS=cpu CUDA_VISIBLE_DEVICES=-1 TF_CPP_MIN_LOG_LEVEL=1
export TPU_SKIP_MDS_QUERY=1 TPU_WORKER_HOSTNAMES=localhost

for name in "$@"; do
    case $name in
    jax-cpu-train)
        run jax jax_train.py "$EVERY_PASS"
        plain $name
        ;;
    jax-cpu-train-allformats)
        run jax jax_train.py "$EVERY_PASS $DOT_AND_PROTO"
        packed $name
        ;;
    jax-cpu-two-runs)
        only="--xla_dump_include_timestamp --xla_dump_hlo_module_re=jit_(add|init_params)"
        run jax jax_train.py "$EVERY_PASS $only"
        more_into_dump jax jax_train.py "$EVERY_PASS $only"
        packed $name
        ;;
    jax-cpu-runs)
        run jax jax_runs.py "--xla_dump_hlo_snapshots --xla_dump_hlo_module_re=jit_hidden"
        packed $name
        ;;
    jax-cpu-captured.log)
        cp "$programs/jax_train.py" "$WORK"
        (cd "$WORK" && XLA_FLAGS="--xla_dump_to=- $EVERY_PASS --xla_dump_hlo_module_re=jit_(add|rollout)" \
            env-jax/bin/python jax_train.py) >"$data/$name" 2>&1
        ;;
    two-ranks)
        rm -rf "$WORK/dump"
        cp "$programs/two_ranks.py" "$WORK"
        for rank in 0 1; do
            (cd "$WORK" && XLA_FLAGS="--xla_dump_to=$WORK/dump/RANK --xla_dump_hlo_as_text" \
                env-jax/bin/python two_ranks.py $rank)
        done
        packed $name
        ;;
    looped)
        run jax looped.py --xla_dump_hlo_as_text
        packed $name
        ;;
    traced)
        run jax traced.py --xla_dump_hlo_as_text
        packed $name
        ;;
    pairs)
        # each variant of benchmarks/compare_pairs.tsv into a folder of its own, below pairs/: most are
        # arguments of paired.py, `release` is another jaxlib, `flag3` is dtype with
        # --xla_allow_excess_precision=false, `nofusion` has --xla_disable_hlo_passes=fusion, data and
        # tensor have --xla_force_host_platform_device_count=4; those without effect are edits of the
        # program: functions renamed, lines and statements moved, a file renamed, a scope added.
        for variant in base dtype batch layer remat donated; do
            run jax "paired.py $variant" "$EVERY_PASS"
            mkdir -p "$WORK/pairs" && rm -rf "$WORK/pairs/$variant" && mv "$WORK/dump" "$WORK/pairs/$variant"
        done
        ;;
    resharded) # a folder for each program; kernels and what creates the arguments are left out
        rm -rf "$WORK/resharded" && mkdir "$WORK/resharded"
        for program in rematerialized "rematerialized gspmd" adjusted "adjusted gspmd" \
            weights_gathered replicated replicated_between gathered_by_hand; do
            run jax "resharded.py $program" "--xla_dump_hlo_as_text \
                --xla_dump_hlo_pass_re=.*partition.*|shardy.* \
                --xla_dump_hlo_module_re=jit_${program% *}" 2>"$WORK/stderr.log"
            rm -rf "$WORK"/dump/*.{o,ll} "$WORK"/dump/module_*.jit_{convert_element_type,broadcast_in_dim}
            mv "$WORK/stderr.log" "$WORK/dump" && mv "$WORK/dump" "$WORK/resharded/${program/ /-}"
        done
        mv "$WORK/resharded" "$WORK/dump"
        packed $name
        ;;
    pairs-unseen)
        # each variant of benchmarks/compare_pairs.tsv with a backend in its name, below pairs-unseen/; a
        # dump both ends, the buffer assignment and the options are kept. Those beside the variants of
        # the program: `noalgsimp` and `nofusion` have --xla_disable_hlo_passes (algsimp; fusion,
        # priority-fusion on the GPU), cpu `flag` --xla_cpu_use_fusion_emitters=false, gpu `flag`
        # --xla_gpu_enable_triton_gemm=false, `dots` --xla_gpu_dot_merger_threshold_mb=0, tpu `flag`
        # LIBTPU_INIT_ARGS=--xla_tpu_enable_latency_hiding_scheduler=false, `limit`
        # --xla_tpu_multioutput_fusion_max_operands=2, `timestamp` --xla_dump_include_timestamp; cpu
        # data and tensor --xla_force_host_platform_device_count=4; those without effect are edits.
        for variant in base dtype batch layer remat donated; do
            run jax "paired_unseen.py conv $variant cpu" "$EVERY_PASS"
            mkdir -p "$WORK/pairs-unseen" && rm -rf "$WORK/pairs-unseen/cpu-conv-$variant"
            mv "$WORK/dump" "$WORK/pairs-unseen/cpu-conv-$variant"
        done
        ;;
    labelled-recorded)
        run jax recorded.py --xla_dump_hlo_as_text
        packed $name
        ;;
    labelled-keras)
        run tf tf_keras.py --xla_dump_hlo_as_text
        packed $name
        ;;
    labelled-branches)
        export TF_DUMP_GRAPH_PREFIX=$WORK/dump
        export TF_XLA_FLAGS="--tf_xla_auto_jit=2 --tf_xla_min_cluster_size=2 --tf_xla_cpu_global_jit --tf_xla_clustering_debug"
        # At this level TensorFlow's log says why an operation is in no cluster.
        TF_CPP_MIN_LOG_LEVEL=0 TF_CPP_VMODULE=compilability_check_util=3 \
            run tf tf_branches.py --xla_dump_hlo_as_text 2>"$WORK/tensorflow.log"
        mv "$WORK/tensorflow.log" "$WORK/dump"
        unset TF_DUMP_GRAPH_PREFIX TF_XLA_FLAGS
        packed $name
        ;;
    labelled-*)
        case ${name#labelled-} in
        adversaries | training | solver | chain | lookup | sorting | simulation | retraced)
            program=labelled.py ;;
        recommender | sampler | tuning | pretraining | geometry | spectral | filtering | tidying | \
            weather | minimising | retrieval | sudoku)
            program=labelled_last.py ;;
        *) program=labelled_more.py ;;
        esac
        cp "$programs/$program" "$WORK"
        rm -rf "$WORK/dump"
        (cd "$WORK" && XLA_FLAGS="--xla_dump_to=$WORK/dump --xla_dump_hlo_as_text" \
            env-jax/bin/python $program "${name#labelled-}")
        packed $name
        ;;
    jax-0.4.13-cpu-train)
        run jax-0.4.13 jax_train.py "$EVERY_PASS $DOT_AND_PROTO"
        packed $name
        ;;
    tpu-v5e-scan)
        run tpu tpu_scan.py "$EVERY_PASS"
        packed $name
        ;;
    tpu-v5e-remat)
        run tpu "tpu_memory.py 81920" --xla_dump_hlo_as_text
        packed $name
        ;;
    tpu-v5e-oom)
        run tpu "tpu_memory.py 98304" --xla_dump_hlo_as_text || true # that is the case
        packed $name
        ;;
    tpu-v5e-kernels)
        LIBTPU_INIT_ARGS="--xla_mosaic_dump_to=$WORK/dump" \
            run tpu tpu_pallas.py --xla_dump_hlo_as_text
        packed $name
        ;;
    tpu-v5e-machine) # of the machine level only the files that are read
        labels="final_bundles|packed-bundles-post-ra|pre-delay_hlo-static-per-bundle-utilization"
        labels+="|final_hlo-static-per-bundle-utilization|schedule-analysis_final_bundles|post-ra"
        labels+="|hlo-details|hlo-static-bundle-profile|register-pressure|deduplication-map"
        mkdir -p "$WORK/dump"
        LIBTPU_INIT_ARGS="--xla_jf_dump_to=$WORK/dump --xla_jf_dump_llo_pass_label_regex=^($labels)\$" \
            run tpu "tpu_machine.py v5e:2x2" --xla_dump_hlo_as_text
        packed $name
        ;;
    gpu-h100x2-train)
        run gpu gpu_train.py "$EVERY_PASS"
        packed $name
        ;;
    gpu-split)
        cp "$programs/gpu_kernels.py" "$WORK"
        run gpu gpu_split.py "$EVERY_PASS"
        packed $name
        ;;
    gpu-kernels) # without the LLVM IR, which is most of the bytes; `ptxas -v` of all programs by hand
        rm -rf "$WORK/gpu-kernels" && mkdir -p "$WORK/gpu-kernels/ptxas"
        for sm in 75 89 90 120; do
            run gpu "gpu_kernels.py $sm reduce_64_float64 attention_step" --xla_dump_hlo_as_text
            rm "$WORK"/dump/*.ll && mv "$WORK/dump" "$WORK/gpu-kernels/sm_$sm"
            run gpu "gpu_kernels.py $sm" --xla_dump_hlo_as_text
            for ptx in $(find "$WORK/dump" -name '*.ptx' -size +0 | sort); do
                arch=$(sed -n 's/^\.target *\([a-z0-9_]*\).*/\1/p' "$ptx")
                "$WORK"/env-gpu/lib/python3*/site-packages/nvidia/cuda_nvcc/bin/ptxas -v -arch="$arch" \
                    -o /dev/null "$ptx" 2>&1
            done | grep -v -e 'Compile time' -e gmem >"$WORK/gpu-kernels/ptxas/sm_$sm.txt"
        done
        mv "$WORK/gpu-kernels" "$WORK/dump"
        packed $name
        ;;
    overlapped-cpu)
        run jax "overlapped.py cpu" "--xla_dump_hlo_as_text --xla_dump_hlo_pass_re=shardy-xla|spmd-partitioning"
        packed $name
        ;;
    overlapped-*)
        some="while-loop-all-reduce-code-motion|.*async-collective.*|gpu-convert-async-collectives-to-sync"
        some="$some|shardy-xla|sparse-core-collective-offload"
        run "${name#overlapped-}" "overlapped.py ${name#overlapped-}" \
            "--xla_dump_hlo_as_text --xla_dump_hlo_pass_re=$some"
        packed $name
        ;;
    sharded-*)
        environment=${name#sharded-}
        run "${environment/cpu/jax}" "sharded.py ${name#sharded-}" "$EVERY_PASS"
        packed $name
        ;;
    tf-add-multiply)
        run tf tf_add_multiply.py "$EVERY_PASS $DOT_AND_PROTO --xla_dump_hlo_as_html"
        packed $name
        ;;
    tf-clusters)
        export TF_DUMP_GRAPH_PREFIX=$WORK/dump
        export TF_XLA_FLAGS="--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit --tf_xla_clustering_debug"
        run tf tf_clusters.py "$EVERY_PASS $DOT_AND_PROTO"
        unset TF_DUMP_GRAPH_PREFIX TF_XLA_FLAGS
        packed $name
        ;;
    findings)
        cp "$programs/findings.py" "$WORK"
        (cd "$WORK" && export JAX_PLATFORMS=cpu TPU_SKIP_MDS_QUERY=1 &&
            XLA_FLAGS=--xla_force_host_platform_device_count=4 \
                env-jax/bin/python findings.py "$data/findings" &&
            env-jax-0.4.13/bin/python findings.py "$data/findings" old &&
            env-tpu/bin/python findings.py "$data/findings" tpu)
        ;;
    tagged-*)
        backend=${name#tagged-} && backend=${backend%%-*}
        run "${backend/cpu/jax}" "tagged.py $backend ${name##*-}" "$EVERY_PASS"
        packed $name
        ;;
    ipu-dot-only | truncated | rocm-made)
        python3 "$programs/derive.py" $name
        ;;
    example)
        cp "$data/../../examples/transformer.py" "$WORK"
        rm -rf "$WORK/dump"
        (cd "$WORK" && XLA_FLAGS="--xla_dump_to=$WORK/dump $EVERY_PASS" \
            env-jax/bin/python transformer.py)
        packed transformer "$data/../../examples"
        ;;
    *)
        echo "unknown: $name" >&2
        exit 2
        ;;
    esac
done
