// Finds the GPU and asks for all of it that the engine can use.
import { EngineError } from './errors.ts';

/** gpu::Caps of src/gpu/device.hpp, as ztvm_init takes it. */
export interface Caps {
  adapter: string;
  driver: string;
  kind: 'unknown' | 'cpu' | 'integrated' | 'discrete';
  compiler: 'naga' | 'tint';
  f16: boolean;
  subgroups: boolean;
  /** Products of 16 x 16 matrices of f16, summed in f32. */
  subgroup_matrix: boolean;
  subgroup_min: number;
  subgroup_max: number;
  max_buffer_bytes: number;
  max_binding_bytes: number;
  max_bindings: number;
  max_workgroup_bytes: number;
  max_workgroup_invocations: number;
  max_workgroups: number;
}

/** Behind a flag in Chromium so far, and not among the standard's names. */
const subgroupMatrix = 'chromium-experimental-subgroup-matrix' as GPUFeatureName;
const usedFeatures: GPUFeatureName[] = ['shader-f16', 'subgroups', subgroupMatrix];

/** https://github.com/gpuweb/gpuweb/blob/main/proposals/subgroup-matrix.md */
interface SubgroupMatrixConfig {
  componentType: string;
  resultComponentType: string;
  M: number;
  N: number;
  K: number;
}

const usedLimits = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupsPerDimension',
] as const;

/** With `timestamps` the device also has the feature that times kernels, where the adapter has it. */
export async function openDevice(timestamps = false): Promise<{ device: GPUDevice; caps: Caps }> {
  // In a page that is not secure `navigator.gpu` is missing too: say which of the two it is.
  if (!navigator.gpu) {
    throw new EngineError(
      'no_webgpu',
      isSecureContext
        ? 'This browser does not offer WebGPU.'
        : 'WebGPU needs a secure page: open this one over https or at localhost.',
    );
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new EngineError('no_adapter', 'This browser has WebGPU but found no graphics adapter for it.');
  const requiredLimits: Record<string, number> = {};
  for (const name of usedLimits) requiredLimits[name] = adapter.limits[name];
  const wanted: GPUFeatureName[] = timestamps ? [...usedFeatures, 'timestamp-query'] : usedFeatures;
  const requiredFeatures = wanted.filter((name) => adapter.features.has(name));
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits }).catch((error: unknown) => {
    throw new EngineError('device', `The graphics adapter refused to give a device: ${String(error)}.`);
  });
  const caps = describe(adapter.info, device);
  caps.subgroup_matrix &&= await takesMatrixSyntax(device);
  return { device, caps };
}

function describe(info: GPUAdapterInfo, device: GPUDevice): Caps {
  const words = [info.vendor, info.architecture, info.device, info.description].filter((word) => word);
  const subgroups = device.features.has('subgroups');
  const { limits } = device;
  return {
    adapter: words.join(' ') || (info.isFallbackAdapter ? 'a software adapter' : 'an unnamed adapter'),
    driver: 'WebGPU of the browser',
    kind: info.isFallbackAdapter || /swiftshader|llvmpipe/i.test(words.join(' ')) ? 'cpu' : 'unknown',
    // Firefox compiles WGSL with naga. Others take `enable subgroups;`, which is what the engine asks Tint's name for.
    compiler: /firefox/i.test(navigator.userAgent) ? 'naga' : 'tint',
    f16: device.features.has('shader-f16'),
    subgroups,
    subgroup_matrix: device.features.has(subgroupMatrix) && hasUsedMatrices(info),
    subgroup_min: subgroups ? info.subgroupMinSize : 0,
    subgroup_max: subgroups ? info.subgroupMaxSize : 0,
    max_buffer_bytes: limits.maxBufferSize,
    max_binding_bytes: limits.maxStorageBufferBindingSize,
    max_bindings: limits.maxStorageBuffersPerShaderStage,
    max_workgroup_bytes: limits.maxComputeWorkgroupStorageSize,
    max_workgroup_invocations: limits.maxComputeInvocationsPerWorkgroup,
    max_workgroups: limits.maxComputeWorkgroupsPerDimension,
  };
}

function hasUsedMatrices(info: GPUAdapterInfo): boolean {
  const { subgroupMatrixConfigs: configs = [] } = info as { subgroupMatrixConfigs?: Iterable<SubgroupMatrixConfig> };
  return [...configs].some(
    (one) =>
      one.componentType === 'f16' && one.resultComponentType === 'f32' && one.M === 16 && one.N === 16 && one.K === 16,
  );
}

/** The language of this extension is not settled: whether the constructs of matmul_gpu_matrices.wgsl are this browser's. */
async function takesMatrixSyntax(device: GPUDevice): Promise<boolean> {
  const code = `
enable f16;
enable subgroups;
enable chromium_experimental_subgroup_matrix;
diagnostic(off, chromium.subgroup_matrix_uniformity);
var<workgroup> tile: array<array<vec4<u32>, 32>, 2>;
var<workgroup> sums: array<array<f32, 256>, 2>;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) thread: u32) {
  let band = thread / 32u;
  let left = subgroupMatrixLoad<subgroup_matrix_left<f16, 16, 16>, row_major>(&tile[band], 0u, 2u);
  let right = subgroupMatrixLoad<subgroup_matrix_right<f16, 16, 16>, col_major>(&tile[band], 0u, 2u);
  var total: subgroup_matrix_result<f32, 16, 16>;
  total = subgroupMatrixMultiplyAccumulate(left, right, total);
  subgroupMatrixStore<row_major>(&sums[band], 0u, total, 16u);
}`;
  device.pushErrorScope('validation');
  device.createShaderModule({ code });
  return (await device.popErrorScope()) === null;
}
