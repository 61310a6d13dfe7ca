import { HookswitchError } from '../errors.js'
import { SAMPLES } from './samples.js'

/** A kind of event as the embedding host registers it, beside the built-in ones. */
export interface CustomHook {
  /** What webhooks name in `hook`: `^[a-z][a-z0-9_]{0,63}$`, not `all`, not taken. */
  readonly id: string
  /** For people. Default: the id in words (`queue_joined` → "Queue Joined"). */
  readonly name?: string
  /** One sentence: when it happens. Default: none. */
  readonly description?: string
  /**
   * One example event, or several, as they would be published; `hook` is filled in, ids of account and call too
   * where they are missing. Default: an event with nothing but those.
   */
  readonly sample?: object | readonly object[]
}

/** A kind of event that webhooks can listen to. */
export interface CatalogueEntry {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Example events as they would be published; never empty. */
  readonly sample: readonly Readonly<Record<string, unknown>>[]
}

/** Names and descriptions as KAZOO lists them (`GET /webhooks`). */
const BUILT_IN: readonly Omit<CatalogueEntry, 'sample'>[] = [
  { id: 'channel_create', name: 'Channel Create', description: 'A new call leg starts.' },
  {
    id: 'channel_answer',
    name: 'Channel Answer',
    description: 'A call leg has two-way audio: the called party or a voicemail box answers.',
  },
  { id: 'channel_bridge', name: 'Channel Bridge', description: 'Two call legs are joined.' },
  { id: 'channel_hold', name: 'Channel Hold', description: 'A call leg is put on hold.' },
  { id: 'channel_unhold', name: 'Channel Unhold', description: 'A call leg is taken off hold.' },
  { id: 'channel_destroy', name: 'Channel Destroy', description: 'A call leg ends, usually by hanging up.' },
]

/** What a sample of the host may leave out. */
const BARE_SAMPLE = {
  accountId: SAMPLES[0]!.accountId,
  callId: SAMPLES[0]!.callId,
  timestampMs: SAMPLES[0]!.timestampMs,
}

/** Listens to every kind; accepted as `hook`, but no kind itself. */
export const ALL_HOOKS = 'all'

/**
 * The built-in kinds, then those of the host in their order.
 *
 * @throws `InvalidOption` naming the wrong part, as in `hooks[0].id`
 */
export function catalogueOf(customHooks: readonly CustomHook[] = []): readonly CatalogueEntry[] {
  if (!Array.isArray(customHooks)) throw invalid('hooks', 'must be a list')
  const catalogue: CatalogueEntry[] = BUILT_IN.map((hook) => ({
    ...hook,
    sample: SAMPLES.filter((event) => event.hook === hook.id),
  }))
  customHooks.forEach((hook: unknown, index) => {
    const entry = entryOf(hook, `hooks[${index}]`)
    if (isKnownHook(catalogue, entry.id)) throw invalid(`hooks[${index}].id`, `'${entry.id}' is taken`)
    catalogue.push(entry)
  })
  return catalogue
}

/** Whether the catalogue lists this kind; `all` is no kind. */
export function isKnownHook(catalogue: readonly CatalogueEntry[], id: string): boolean {
  return catalogue.some((entry) => entry.id === id)
}

function entryOf(hook: unknown, field: string): CatalogueEntry {
  if (!isRecord(hook)) throw invalid(field, 'must be an object')
  const { id, name, description = '', sample = {}, ...others } = hook
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw invalid(`${field}.${unknown}`, 'is not known here')
  if (typeof id !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(id)) {
    throw invalid(`${field}.id`, 'must be 1 to 64 lower-case letters, digits and _, beginning with a letter')
  }
  if (id === ALL_HOOKS) throw invalid(`${field}.id`, "'all' stands for every kind")
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw invalid(`${field}.name`, 'must be a text')
  }
  if (typeof description !== 'string') throw invalid(`${field}.description`, 'must be a text')
  return { id, name: name ?? inWords(id), description, sample: sampleOf(id, sample, `${field}.sample`) }
}

function sampleOf(id: string, sample: unknown, field: string): CatalogueEntry['sample'] {
  const events: readonly unknown[] = Array.isArray(sample) ? sample : [sample]
  if (events.length === 0) throw invalid(field, 'must not be empty')
  return events.map((event, index) => {
    if (!isRecord(event))
      throw invalid(Array.isArray(sample) ? `${field}[${index}]` : field, 'must be an object')
    return { ...BARE_SAMPLE, ...event, hook: id }
  })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function inWords(id: string): string {
  return id
    .split('_')
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
}

function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field}: ${message}`, { field })
}
