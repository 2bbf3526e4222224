export type { AnchorLog, AnchorResult, LogStatus } from './anchor-log.ts';
export { checkpointsIn } from './checkpoints-in.ts';
export { fetchAtMost } from './fetch-at-most.ts';
export { fsckLog } from './fsck.ts';
export type { FsckReport, WitnessFinding } from './fsck-report.ts';
export type { LogMetrics } from './leader.ts';
export {
  type AcceptOutcome,
  type AcceptRequest,
  type Advance,
  CHECKPOINT_SECONDS,
  type ChainPosting,
  type Fenced,
  type Leaf,
  type LeafPage,
  type Lease,
  type ListedLeaf,
  type LogIdentity,
  type LogStore,
  type PostingAttempt,
  type PostingPage,
  type PostingState,
  type StoredCheckpoint,
  type Tile,
  type TreeHead,
} from './log-store.ts';
export { followLog, type MonitorState, type Sighting } from './monitor.ts';
export { openAnchorLog } from './open-log.ts';
export { directoryStorage } from './storage/directory-storage.ts';
export type { ObjectStorage } from './storage/object-storage.ts';
export type { S3Location, S3Settings } from './storage/s3-settings.ts';
export { createWitness, witnessOf } from './witness.ts';
export type { WitnessConfig } from './witness-client.ts';
export { openWitnessState } from './witness-state.ts';
