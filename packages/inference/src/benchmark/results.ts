import type { BenchmarkNode, JsonObject } from '@tallystick/core';
import file from './results.json' with { type: 'json' };

/** One part of the benchmark, as `spec/benchmark.md` describes it. */
interface NodeResults extends JsonObject {
  readonly about: string;
  readonly tiers: JsonObject[];
  readonly paired: JsonObject[];
}

export type PartName = Exclude<BenchmarkNode, 'benchmark'>;

/** What `npm run benchmark` wrote. */
export interface Results {
  readonly version: number;
  readonly corpus: JsonObject;
  readonly command: string;
  readonly generated_with: JsonObject;
  readonly nodes: Readonly<Record<PartName, NodeResults>>;
  readonly peers: JsonObject[];
}

// JSON imports have wider types than the script that writes the file.
export const results = file as Results;
