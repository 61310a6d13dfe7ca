/**
 * For storage adapters: the contract a store keeps, and the decisions every store makes alike. The proof of the
 * contract, `storeConformance`, is in `hookswitch/testkit`.
 */
export type { Account } from '../accounts/account.js'
export { nameKey, realmKey } from '../accounts/account.js'
export type { AccountStore, ApiKeyRow } from '../accounts/account-store.js'
export type { User } from '../accounts/user.js'
export type { TokenRow, TokenStore } from '../auth/token-store.js'
export type { AttemptRecord, StoredAttempt } from '../delivery/attempt-record.js'
export { fillIn } from '../delivery/bodies.js'
export type { AttemptQuery, DeliveryQuery, StoredDelivery } from '../delivery/delivery-queries.js'
export type {
  Acceptance,
  AcceptedEvent,
  BodyTemplate,
  Claim,
  ClaimRequest,
  ClaimResult,
  DeliveryStore,
  NewDelivery,
  NewEvent,
  Ownership,
  ReadyEndpoint,
  Settled,
  Settlement,
} from '../delivery/delivery-store.js'
export type { Erasure, ErasureStore, Mentions } from '../delivery/erasure-store.js'
export type { InboxEntry, InboxStore } from '../delivery/inbox-store.js'
export type { BodyEncoding, Delivery, DeliveryState } from '../delivery/lifecycle.js'
export { isTerminal } from '../delivery/lifecycle.js'
export { type ErrorCode, errorCode, HookswitchError, notFound } from '../errors.js'
export type { Clock, Log } from '../ports.js'
export { originOf } from '../values/origin.js'
export type { Health } from '../webhooks/health.js'
export { isFailing, isProbed } from '../webhooks/health.js'
export type { SealedSecret, Webhook, WebhookSettings } from '../webhooks/webhook.js'
export { disabledByService, keepsHealth } from '../webhooks/webhook.js'
export type { WebhookStore } from '../webhooks/webhook-store.js'
export type { Store, StoreSupports } from './contract.js'
export type {
  Move,
  Moved,
  MovedAttempt,
  MovedCall,
  MovedCounts,
  MovedDelivery,
  MovedEvent,
  MovedKey,
  MovedKind,
  MovedRows,
  MoveSource,
} from './moving.js'
export { asRead, cutToBytes, isMentioned, REQUEST_BODY_BYTES, readAttempt } from './reading.js'
export type { NodeLease, OwnershipPlan, ShardLease } from './shards.js'
export { fairShare, inboxShard, planOwnership, SHARDS, shardOf } from './shards.js'
export { accepted, claimed, promoted, replacementOf, settledAs, webhookAfter } from './transitions.js'
