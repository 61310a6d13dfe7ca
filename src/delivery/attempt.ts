import type { Clock, Observation, Sender, SendRequest, Span, Tracing } from '../ports.js'
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
  readonly tracing?: Tracing | undefined
  /** Opened secrets and headers of a webhook. */
  material(webhook: Webhook): EndpointMaterial
}

/**
 * Sends one claim's request and waits for what is seen of it. A door that throws, or answers what is no observation,
 * against its promise, is a fault of ours. Rejects only when no request can be made at all.
 */
export function attempt(
  doors: AttemptDoors,
  claim: Claim,
  webhook: Webhook,
  deadlineMs: number,
): Promise<Attempted> {
  const { clock, sender } = doors
  const sentMs = clock.now()
  const started = clock.monotonic()
  const number = claim.delivery.attempts + 1
  let span: Span | undefined
  try {
    const material = doors.material(webhook)
    span = doors.tracing?.begin('attempt', claim.traceparent, factsOf(claim, number))
    const traceparent = span?.traceparent ?? claim.traceparent
    const request = buildRequest(claim, webhook, material, number, sentMs, deadlineMs, traceparent)
    const end = (observation: Observation): Attempted => {
      if (span) endSpan(span, request, observation)
      return { request, observation, sentMs, durationMs: clock.monotonic() - started }
    }
    // Without its secrets a request would go out unsigned, and the receiver would pay for our lost key.
    if (webhook.secrets.length > 0 && material.keys.length === 0) return Promise.resolve(end(SECRET_LOST))
    return sendThrough(sender, request).then(
      (seen) => end(isObservation(seen) ? seen : NOTHING_TOLD),
      (thrown: unknown) => end(fault(thrown instanceof Error ? thrown.name : 'the sender threw')),
    )
  } catch (thrown) {
    span?.end({}, 'own_fault')
    return Promise.reject(thrown)
  }
}

/** A sender that throws at once, or answers at once, does so as a promise. */
function sendThrough(sender: Sender, request: SendRequest): Promise<Observation> {
  try {
    const sending = sender.send(request)
    return sending instanceof Promise ? sending : Promise.resolve(sending)
  } catch (thrown) {
    return Promise.reject(thrown)
  }
}

const fault = (detail: string): Observation => ({ kind: 'own_fault', detail })

const SECRET_LOST = fault('the signing secret cannot be opened: was the service secret changed?')
const NOTHING_TOLD = fault('the sender told nothing')

function isObservation(seen: Observation | undefined): seen is Observation {
  if (seen?.kind === 'response') {
    return Number.isInteger(seen.status) && Array.isArray(seen.headers) && typeof seen.body === 'string'
  }
  return seen?.kind === 'no_response' || seen?.kind === 'own_fault' || seen?.kind === 'withdrawn'
}

function factsOf({ delivery }: Claim, number: number) {
  return {
    'hookswitch.delivery_id': delivery.id,
    'hookswitch.event_id': delivery.eventId,
    'hookswitch.webhook_id': delivery.webhookId,
    'hookswitch.account_id': delivery.accountId,
    'hookswitch.hook': delivery.hook,
    'hookswitch.attempt': number,
  }
}

function endSpan(span: Span, { method, url }: SendRequest, seen: Observation): void {
  // Origin and path are the receiver's address; a query may hold its secret.
  const { hostname, port, protocol } = new URL(url)
  const facts = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  }
  if (seen.kind === 'response') {
    const failure = seen.status >= 200 && seen.status < 300 ? undefined : String(seen.status)
    span.end({ 'http.response.status_code': seen.status, ...facts }, failure)
  } else span.end(facts, seen.kind === 'no_response' ? seen.failure : seen.kind)
}
