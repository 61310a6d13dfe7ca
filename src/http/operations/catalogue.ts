/** The hooks, their samples, the bindings of WebSockets and the OpenAPI document: routes that need no token. */
import type { CheckedEvent } from '../../delivery/event.js'
import { samplePayload } from '../../delivery/payload.js'
import { invalidInput, notFound } from '../../errors.js'
import type { JsonSchema } from '../../values/json-schema.js'
import { VERSION } from '../../version.js'
import { jsonSchemaOf } from '../../webhooks/event-data.js'
import { bindingsJson } from '../../wire/call-bindings.js'
import { slicePage } from '../../wire/list.js'
import type { ApiDeps } from '../api-deps.js'
import { type Operation, pageResult, readListRequest } from './context.js'

/** KAZOO names samples after the schemas of its hooks. */
const SAMPLE_PREFIX = 'webhooks_'

/** `event_id` of every sample; no real event has it. */
const SAMPLE_EVENT_ID = '0'.repeat(32)

export const listHooks: Operation = async (context) => {
  const request = readListRequest(context)
  const hooks = context.deps.options.catalogue
    // Sorted as in the catalogue, which follows a call from start to end.
    .map(({ id, name, description }, index) => ({ id, name, description, index }))
  const hookJson = ({ id, name, description }: (typeof hooks)[number]) => ({ id, name, description })
  const slice = slicePage(hooks, request, {
    keyOf: ({ id, index }) => [String(index).padStart(6, '0'), id],
    filterJson: hookJson,
    itemJson: hookJson,
  })
  if ('failures' in slice) throw invalidInput(slice.failures)
  return pageResult(slice.page, request)
}

export const listSamples: Operation = async ({ deps }) => ({
  data: deps.options.catalogue.map(({ id }) => SAMPLE_PREFIX + id),
})

export const readSample: Operation = async ({ deps, params }) => {
  const sampleId = params.sampleId!
  const hook = deps.options.catalogue.find(({ id }) => sampleId === SAMPLE_PREFIX + id || sampleId === id)
  if (!hook) throw notFound(sampleId)
  return { data: samplePayloads(hook.sample as unknown as readonly CheckedEvent[]) }
}

/** The payloads that a receiver gets for the samples, with a sequence per call that starts at 1. */
function samplePayloads(events: readonly CheckedEvent[]): readonly object[] {
  const sequences = new Map<string, number>()
  return events.map((event) => {
    const key = event.orderingKey ?? event.callId
    const sequence = (sequences.get(key) ?? 0) + 1
    sequences.set(key, sequence)
    return samplePayload(event, SAMPLE_EVENT_ID, sequence)
  })
}

/** KAZOO's `GET /websockets` (`cb_websockets`). */
export const listBindings: Operation = async () => ({ data: bindingsJson() })

/** The serialized document per instance: it is large and never changes, so all responses share it. */
const documents = new WeakMap<ApiDeps, Promise<Uint8Array>>()

async function serializeOpenapi({ options }: ApiDeps): Promise<Uint8Array> {
  // Imported on first use: most processes never serve the document.
  const { openapiDocument } = await import('../../wire/openapi.js')
  const hooks = options.catalogue.map(({ schema, ...hook }) => {
    const dataSchema = schema && jsonSchemaOf(schema)
    return dataSchema ? { ...hook, dataSchema: dataSchema as JsonSchema } : hook
  })
  return Buffer.from(JSON.stringify(openapiDocument({ version: VERSION, hooks, ingest: options.ingest })))
}

export const readOpenapi: Operation = async ({ deps }) => {
  let document = documents.get(deps)
  if (!document) {
    document = serializeOpenapi(deps)
    documents.set(deps, document)
    document.catch(() => documents.delete(deps))
  }
  return { rawBody: await document }
}
