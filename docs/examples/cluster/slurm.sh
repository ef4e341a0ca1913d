#!/bin/bash
# For `sbatch`, with a home directory that all nodes share. Not run as it stands.
#SBATCH --job-name=dumbbell
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --exclusive
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@120

export PATH=$HOME/dumbbell/bin:$PATH RAY_worker_niceness=0
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
start="ray start --block --num-cpus $SLURM_CPUS_PER_TASK"   # emulation: --resources '{\"dumbbell_emulate\": 16}'
srun --nodes=1 --ntasks=1 -w "$head" $start --head --port=6379 &
sleep 15
srun --nodes=$((SLURM_NNODES - 1)) --ntasks=$((SLURM_NNODES - 1)) -x "$head" $start --address "$head:6379" &
sleep 15
dumbbell run my-study.toml --executor ray --address "$head:6379" --store "$HOME/dumbbell-store" &
driver=$!
trap 'kill -TERM $driver' TERM
wait $driver || wait $driver   # the first one ends with the signal, the second one with the driver
