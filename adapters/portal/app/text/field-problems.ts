/** What the service says about the fields of a form that it refuses. Pure. */

/** One violated rule. */
export interface FieldProblem {
  /** The field of the document. */
  readonly field: string
  /** Where in the field: names of headers, refused entries of a list, or a place in a filter. */
  readonly places: readonly string[]
  /** The JSON Schema keyword where one exists: `required`, `maximum`, … */
  readonly rule: string
  /** The limit, or what is possible: types, values. */
  readonly target: number | readonly string[]
  /** The service's sentence. */
  readonly message: string
}

/** KAZOO's sentence for every refused URL; the reason is the target. */
const REFUSED_URL = 'invalid client URL'

/**
 * @param data of a `validation error`: `{ "<dotted.path>": { "<rule>": { message, target, value } } }`
 * @returns one problem for all places in a field at which the same is wrong
 */
export function fieldProblems(data: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  const problems = new Map<string, FieldProblem & { readonly places: string[] }>()
  for (const [path, rules] of Object.entries(data)) {
    if (!isObject(rules)) continue
    // A request for a preview has the settings in the field `webhook`.
    const [field = path, ...below] = path.replace(/^webhook\./, '').split('.')
    for (const [rule, details] of Object.entries(rules)) {
      if (!isObject(details) || typeof details.message !== 'string') continue
      const problem = { field, ...describe(rule, details, details.message) }
      const key = JSON.stringify(problem)
      const known = problems.get(key) ?? { ...problem, places: [] }
      const isEntry = field === 'only' && typeof details.value === 'string'
      const place = isEntry ? String(details.value) : below.join('.')
      if (place !== '') known.places.push(place)
      problems.set(key, known)
    }
  }
  return [...problems.values()]
}

function describe(
  rule: string,
  { target }: Readonly<Record<string, unknown>>,
  message: string,
): Pick<FieldProblem, 'rule' | 'target' | 'message'> {
  // An empty text or list is a missing one.
  if ((rule === 'minLength' || rule === 'minItems') && target === 1)
    return { rule: 'required', target: [], message }
  if (rule === 'type' && typeof target === 'string') return { rule, target: target.split(', '), message }
  if (message === REFUSED_URL && typeof target === 'string') return { rule, target: [], message: target }
  // A key that is not one of the possible ones.
  const isChoice = rule === 'additionalProperties' && Array.isArray(target)
  return {
    rule: isChoice ? 'enum' : rule,
    target: typeof target === 'number' ? target : Array.isArray(target) ? target.map(String) : [],
    message,
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
