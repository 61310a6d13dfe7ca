import type { Clock, Observation, Sender, SendRequest } from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Claim } from './delivery-store.js'
import { buildRequest, type EndpointMaterial } from './request.js'

/** One request and what became of it. */
export interface Attempted {
  readonly request: SendRequest
  readonly observation: Observation
  /** Wall clock, Unix ms. */
  readonly sentMs: number
  readonly durationMs: number
}

export interface AttemptDoors {
  readonly clock: Clock
  readonly sender: Sender
  /** Opened secrets and headers of a webhook. */
  material(webhook: Webhook): EndpointMaterial
}

/**
 * Sends one claim's request and waits for what is seen of it. Never rejects: a door that throws, against its
 * promise, is a fault of ours.
 */
export async function attempt(
  doors: AttemptDoors,
  claim: Claim,
  webhook: Webhook,
  deadlineMs: number,
): Promise<Attempted> {
  const { clock } = doors
  const sentMs = clock.now()
  const started = clock.monotonic()
  const number = claim.delivery.attempts + 1
  const request = buildRequest(claim, webhook, doors.material(webhook), number, sentMs, deadlineMs)
  let observation: Observation
  try {
    observation = await doors.sender.send(request)
  } catch (thrown) {
    observation = { kind: 'own_fault', detail: thrown instanceof Error ? thrown.name : 'the sender threw' }
  }
  return { request, observation, sentMs, durationMs: clock.monotonic() - started }
}
