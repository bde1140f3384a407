// Prints what NVIDIA's own calculation says of each line: MAJOR MINOR THREADS_SM REGISTERS SHARED_SM
// SHARED_BLOCK OPT_IN RESERVED | THREADS REGISTERS STATIC DYNAMIC BARRIERS
#include <climits>
#include <cstdio>
#include <cstring>
#include <cuda_occupancy.h>

int main() {
  int major, minor, threads_sm, registers_sm, shared_sm, shared_block, opt_in, reserved;
  int threads, registers, fixed, dynamic, barriers;
  while (scanf("%d %d %d %d %d %d %d %d %d %d %d %d %d", &major, &minor, &threads_sm, &registers_sm,
               &shared_sm, &shared_block, &opt_in, &reserved, &threads, &registers, &fixed, &dynamic,
               &barriers) == 13) {
    cudaOccDeviceProp device;
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = threads_sm;
    device.regsPerBlock = registers_sm;
    device.regsPerMultiprocessor = registers_sm;
    device.warpSize = 32;
    device.sharedMemPerBlock = shared_block;
    device.sharedMemPerMultiprocessor = shared_sm;
    device.numSms = 1;
    device.sharedMemPerBlockOptin = opt_in;
    device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes kernel;
    kernel.maxThreadsPerBlock = 1024;
    kernel.numRegs = registers;
    kernel.sharedSizeBytes = fixed;
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = dynamic;
    kernel.numBlockBarriers = barriers;
    cudaOccDeviceState state;
    cudaOccResult result;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, dynamic);
    printf("%d %d %u\n", error, error ? -1 : result.activeBlocksPerMultiprocessor,
           error ? 0 : result.limitingFactors);
  }
}
