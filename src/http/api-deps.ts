import type { ReplayRateLimiter } from '../delivery/replay-rate-limiter.js'
import type { NormalizedOptions } from '../options/normalize.js'
import type { Clock, Log } from '../ports.js'
import type { Core } from '../runtime/core.js'
import type { EraseRequest, EraseResult } from '../runtime/erase.js'
import type { OperatorApi } from '../runtime/operator-api.js'
import type { PublishDeps } from '../runtime/publish.js'
import type { ReplayApi } from '../runtime/replay-api.js'
import type { WebhookApi } from '../runtime/webhook-api.js'
import type { Yielding } from '../values/yielding.js'
import type { TrustedProxies } from './client-address.js'
import type { PublishAdmission } from './publish-admission.js'

/** The parts of an instance that the HTTP API works with. They exist before the instance is started. */
export interface ApiDeps {
  /** Opaque id of this process, never a host name. */
  readonly node: string
  readonly options: NormalizedOptions
  readonly trustedProxies: TrustedProxies
  readonly clock: Clock
  readonly log: Log
  /** The same without a limit of repeated lines. */
  readonly accessLog: Log
  /** 32 lower-case hex digits. */
  newId(): string
  /** The running instance. Throws `StoreUnavailable` before it starts and while the store is away, `Closing` after `close`. */
  core(): Core
  /** `hs.webhooks`. */
  readonly webhooks: WebhookApi
  /** `hs.replays`. */
  readonly replays: ReplayApi
  /** `hs.operator.jobs`. */
  readonly jobs: OperatorApi['jobs']
  /** `hs.erase`. */
  erase(request: EraseRequest): Promise<EraseResult>
  /** Dependencies of `hs.publish`. */
  readonly publishing: PublishDeps
  /** Bounds what the publishes of one account hold. */
  readonly publishes: PublishAdmission
  /** Limits tests, replays and resumptions: per webhook, and replays of an account per account. */
  readonly replayLimiter: ReplayRateLimiter
  /** Called between the steps of long work (`values/yielding`). */
  readonly yieldWhenDue: Yielding['whenDue']
}
