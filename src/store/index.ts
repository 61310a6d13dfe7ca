/**
 * `hookswitch/store`, for storage adapters: the contract of a store, and the decisions that all stores share. An internal
 * seam: it may change in any minor version. The conformance suite, `storeConformance`, is in `hookswitch/testkit`.
 */
export type { Account } from '../accounts/account.js'
export {
  accountRevision,
  normalizeAccountName,
  normalizeRealm,
  normalizeRealmForSearch,
} from '../accounts/account.js'
export type {
  AccountConditions,
  AccountQuery,
  AccountStore,
  ApiKeyRow,
  ListPosition,
  PageQuery,
  RemovalOptions,
  UserConditions,
} from '../accounts/account-store.js'
export {
  type AccountTree,
  assertPlacement,
  checksPlacement,
  type Placement,
  placementOf,
} from '../accounts/placement.js'
export type { PrivLevel, User } from '../accounts/user.js'
export { userNameKey, userRevision, userSortKey } from '../accounts/user.js'
export type { TokenRow, TokenStore } from '../auth/token-store.js'
export type { AttemptRecord, StoredAttempt } from '../delivery/attempt-record.js'
export { fillIn } from '../delivery/body-variants.js'
export type {
  CallIndexKind,
  CallIndexStore,
  CallNumber,
  IndexedCall,
  UnwantedEvent,
} from '../delivery/call-index-store.js'
export type {
  AttemptLogPage,
  AttemptLogQuery,
  AttemptQuery,
  DeliveryQuery,
  DeliveryReplays,
  DeliverySearch,
  EndpointActivity,
  FoundDeliveries,
  LoggedAttempt,
  ReplayableQuery,
  StoredDelivery,
} from '../delivery/delivery-queries.js'
export type {
  Acceptance,
  AcceptedEvent,
  BodyKey,
  BodyTemplate,
  DeliveryContent,
  DeliveryReads,
  NewDelivery,
  NewEvent,
  Settlement,
} from '../delivery/delivery-store.js'
export type { Erasure, ErasureStore, Mentions } from '../delivery/erasure-store.js'
export { eventIndexOf } from '../delivery/event-index.js'
export type { HoldStore } from '../delivery/hold-store.js'
export type { InboxEntry, InboxStore } from '../delivery/inbox-store.js'
export { laneKey } from '../delivery/lane-key.js'
export type { BodyEncoding, Delivery, DeliveryState } from '../delivery/lifecycle.js'
export { isTerminal } from '../delivery/lifecycle.js'
export {
  deliveryBounds,
  firstPosition,
  type ListPart,
  MAX_AHEAD_MS,
  type PartQuery,
  partOf,
} from '../delivery/list-part.js'
export type {
  LiveBatch,
  LiveItem,
  LiveKind,
  LiveListener,
  LiveStore,
  LiveWatch,
  StoredLiveBatch,
} from '../delivery/live-store.js'
export { LIVE_RETENTION_MS } from '../delivery/live-store.js'
export { partiesOf } from '../delivery/payload.js'
export { createPositions, MAX_NODES, type Positions, positionAt, positionMs } from '../delivery/positions.js'
export type {
  AcceptanceResult,
  Changes,
  DeliveryKey,
  EndedResult,
  Group,
  GroupResult,
  Lease,
  LoadedPart,
  NodeLease,
  Polled,
  QueueStore,
  Start,
  Starts,
  StoredNode,
  WaitingDeliveries,
} from '../delivery/queue-store.js'
export { isNotWritten, notWritten } from '../delivery/queue-store.js'
export type { ReplayListQuery, ReplayState, ReplayStore, StoredReplay } from '../delivery/replay-store.js'
export {
  checkOptionNames,
  type ErrorCode,
  errorCode,
  type Failure,
  HookswitchError,
  notFound,
  reasonOf,
} from '../errors.js'
export type { OpenLeg, OpenLegChanges, OpenLegErasure, OpenLegStore } from '../legs/open-leg-store.js'
export type { Clock, Log } from '../ports.js'
export { addCauses, type CauseCounts, STATS_OUTCOMES, type StatsOutcome } from '../stats/columns.js'
export { STATS_STEPS, type StatsStep } from '../stats/slots.js'
export type {
  StatsBatch,
  StatsQuery,
  StatsRetention,
  StatsRow,
  StatsSeriesKey,
  StatsStore,
  StatsTotals,
} from '../stats/stats-store.js'
export { type ConnectionTarget, connectionTarget } from '../values/postgres-url.js'
export type { EventFilter } from '../webhooks/event-filter.js'
export type { Health, Pause, PauseKind } from '../webhooks/health.js'
export type { EncryptedSecret, Webhook, WebhookSettings } from '../webhooks/webhook.js'
export { deleteWebhook } from '../webhooks/webhook.js'
export type { WebhookPosition, WebhookQuery, WebhookStore } from '../webhooks/webhook-store.js'
export type { Store, StoreSupports } from './contract.js'
export {
  effectiveState,
  isMentioned,
  REQUEST_BODY_BYTES,
  toStoredAttempt,
  truncateUtf8,
} from './effective-state.js'
export {
  ciphertextsOfApiKey,
  ciphertextsOfWebhook,
  type EncryptedKind,
  type EncryptedRow,
  type EncryptionStore,
  hasCiphertexts,
  withApiKeyCiphertext,
  withWebhookCiphertexts,
} from './encryption-store.js'
export {
  type AcceptanceFacts,
  type AcceptancePlan,
  type CallNumbers,
  planAcceptance,
  type StoredEventFact,
  type StoredKey,
} from './engine/acceptance.js'
export { decodeRecord, encodeRecord, type RecordContext, type RecordParts } from './engine/attempt-doc.js'
export { applyEndpointChange, applyReplacement } from './engine/endpoint-change.js'
export {
  ERASURE_STEPS,
  type ErasedCalls,
  type ErasureStep,
  erasedCallsOf,
  hasStep,
  isCovered,
  isDeliveryCovered,
} from './engine/erasure.js'
export { assertRevision, idConflict, idempotencyConflict, inboxConflict } from './engine/errors.js'
export { compareInLane, type LaneKind, type LanePlace, laneKindOf, laneName } from './engine/lanes.js'
export { CALL_RETENTION_MS, linkedLeg } from './engine/legs.js'
export { dueMsForReaders } from './engine/readers.js'
export {
  canStart,
  decideSettlement,
  disabledByRepeat,
  isInterrupted,
  type StoredState,
} from './engine/settlement.js'
export type {
  ExportedAttempt,
  ExportedCall,
  ExportedCounts,
  ExportedDelivery,
  ExportedEvent,
  ExportedIdempotencyKey,
  ExportedKind,
  ExportedOpenLeg,
  ExportedRows,
  ExportedRowTypes,
  ExportSource,
  StoreExport,
} from './export-format.js'
export type { LiveNode, OwnershipPlan, ShardLease } from './shards.js'
export { fairShare, inboxShard, planOwnership, SHARDS, shardOf } from './shards.js'
