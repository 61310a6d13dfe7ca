/** What the service says about the fields of a form that it refuses. Pure. */

/** One violated rule. */
export interface FieldProblem {
  /** The field of the document. */
  readonly field: string
  /** Where in the field: the name of a header, or the refused entry of a list. */
  readonly place?: string
  /** The JSON Schema keyword where one exists: `required`, `maximum`, … */
  readonly rule: string
  /** The limit, type or list that the value does not meet. */
  readonly target: string | number
  /** The service's sentence. */
  readonly message: string
}

/** KAZOO's sentence for every refused URL; the reason is the target. */
const REFUSED_URL = 'invalid client URL'
/** Allowed values that are named. */
const MAX_NAMED = 20

/** @param data of a `validation error`: `{ "<dotted.path>": { "<rule>": { message, target, value } } }` */
export function fieldProblems(data: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  return Object.entries(data).flatMap(([path, rules]) => {
    if (!isObject(rules)) return []
    // A preview has the settings in a field of its own.
    const [field = path, ...below] = path.replace(/^webhook\./, '').split('.')
    return Object.entries(rules).flatMap(([rule, details]) => {
      if (!isObject(details) || typeof details.message !== 'string') return []
      const { message, target, value } = details
      const isListed = field === 'only' && typeof value === 'string'
      const place = isListed ? value : below.join('.')
      return [
        {
          field,
          ...(place !== '' && { place }),
          // An empty text is a missing one.
          rule: rule === 'minLength' && target === 1 ? 'required' : rule,
          target: targetText(target),
          message: message === REFUSED_URL && typeof target === 'string' ? target : message,
        },
      ]
    })
  })
}

function targetText(target: unknown): string | number {
  if (typeof target === 'number') return target
  if (!Array.isArray(target)) return String(target ?? '')
  const named = target.slice(0, MAX_NAMED).join(', ')
  return target.length > MAX_NAMED ? `${named}, …` : named
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
