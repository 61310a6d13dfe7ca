import type { CheckedEvent } from '../../delivery/event.js'
import { payloadOf, SEQUENCE } from '../../delivery/payload.js'
import { invalidInput, notFound } from '../../errors.js'
import { pageOf } from '../../wire/list.js'
import type { Service } from '../service.js'
import { listAnswer, listRequestOf, type Perform } from './call.js'

/** KAZOO names samples after the schemas of its hooks. */
const SAMPLE_PREFIX = 'webhooks_'

/** Which event a sample tells of: none. */
const SAMPLE_EVENT_ID = '0'.repeat(32)

export const listHooks: Perform = async (call) => {
  const request = listRequestOf(call)
  const hooks = call.service.webhooks
    .catalogue()
    // In the catalogue's own order, which follows a call from its start to its end.
    .map(({ id, name, description }, index) => ({ id, name, description, index }))
  const doc = ({ id, name, description }: (typeof hooks)[number]) => ({ id, name, description })
  const cut = pageOf(hooks, request, {
    keyOf: ({ id, index }) => [String(index).padStart(6, '0'), id],
    whole: doc,
    shown: doc,
  })
  if ('failures' in cut) throw invalidInput(cut.failures)
  return listAnswer(cut.page, request)
}

export const listSamples: Perform = async ({ service }) => ({
  data: service.webhooks.catalogue().map(({ id }) => SAMPLE_PREFIX + id),
})

export const readSample: Perform = async ({ service, params }) => {
  const wanted = params.sampleId!
  const hook = service.webhooks.catalogue().find(({ id }) => wanted === SAMPLE_PREFIX + id || wanted === id)
  if (!hook) throw notFound(wanted)
  return { data: samplesOf(hook.sample as unknown as readonly CheckedEvent[]) }
}

/** The samples as a receiver gets them, those of one call numbered as if there were no others. */
function samplesOf(events: readonly CheckedEvent[]): readonly object[] {
  const numbers = new Map<string, number>()
  return events.map((event) => {
    const number = (numbers.get(event.callId) ?? 0) + 1
    numbers.set(event.callId, number)
    return { ...payloadOf(event, SAMPLE_EVENT_ID), [SEQUENCE]: number }
  })
}

/** Written once per service: the document is large and never changes. */
const documents = new WeakMap<Service, string>()

export const readOpenapi: Perform = async ({ service }) => {
  let bare = documents.get(service)
  if (bare === undefined) {
    const { version, ingest } = service
    const hooks = service.webhooks.catalogue()
    // Loaded when it is first asked for: most processes never serve it.
    const { openapiDocument } = await import('../../wire/openapi.js')
    bare = JSON.stringify(openapiDocument({ version, hooks, ingest: ingest !== undefined }))
    documents.set(service, bare)
  }
  return { data: undefined, bare }
}
