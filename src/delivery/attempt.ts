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
 * Sends one claim's request and waits for what is seen of it. Never rejects: a door that throws, or answers what is no
 * observation, against its promise, is a fault of ours.
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
  const material = doors.material(webhook)
  const request = buildRequest(claim, webhook, material, number, sentMs, deadlineMs)
  // Without its secrets a request would go out unsigned, and the receiver would pay for our lost key.
  const lost = webhook.secrets.length > 0 && material.keys.length === 0
  const observation = lost ? SECRET_LOST : await send(doors.sender, request)
  return { request, observation, sentMs, durationMs: clock.monotonic() - started }
}

const SECRET_LOST: Observation = {
  kind: 'own_fault',
  detail: 'the signing secret cannot be opened: was the service secret changed?',
}

async function send(sender: Sender, request: SendRequest): Promise<Observation> {
  try {
    const seen = await sender.send(request)
    return isObservation(seen) ? seen : { kind: 'own_fault', detail: 'the sender told nothing' }
  } catch (thrown) {
    return { kind: 'own_fault', detail: thrown instanceof Error ? thrown.name : 'the sender threw' }
  }
}

function isObservation(seen: Observation | undefined): seen is Observation {
  if (seen?.kind !== 'response') return seen?.kind === 'no_response' || seen?.kind === 'own_fault'
  return Number.isInteger(seen.status) && Array.isArray(seen.headers) && typeof seen.body === 'string'
}
