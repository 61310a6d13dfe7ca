/** Writes the Prometheus text format, version 0.0.4 ("Exposition formats" in the Prometheus documentation). */

export interface Sample {
  /** `_bucket`, `_sum` or `_count`; empty where the sample has the name of the family. */
  readonly suffix: string
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly value: number
}

/** All samples of one metric. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Writes families as text and omits those without samples. */
export function exposition(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(familyText)
    .join('')
}

function familyText({ name, help, kind, samples }: Family): string {
  const lines = samples.map(
    ({ suffix, labels, value }) => `${name}${suffix}${labelsText(labels)} ${numberText(value)}\n`,
  )
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind}\n${lines.join('')}`
}

function labelsText(labels: Sample['labels']): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`
}

/** Writes a number for Go's `ParseFloat`. */
export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string) => escapeHelp(text).replaceAll('"', '\\"')
