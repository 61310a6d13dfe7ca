/** A strict parser of the Prometheus text format, version 0.0.4: anything unknown is an error. */

type Labels = Readonly<Record<string, string>>

export interface Family {
  readonly help: string
  readonly type: string
  /** Name and labels as written, with the value. */
  readonly samples: { readonly name: string; readonly labels: Labels; readonly value: number }[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{([^\\n]*)\\})? (\\S+)$`)
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/
const NUMBER = /^([+-]Inf|NaN|-?\d+(\.\d+)?(e[+-]?\d+)?)$/

export function parseExposition(text: string) {
  if (!text.endsWith('\n')) throw new Error('the last line has no line feed')
  const families = new Map<string, Family>()
  const series = new Set<string>()
  let help: { name: string; text: string } | undefined
  let current: { name: string; family: Family } | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${NAME}) ([^\\n]*)$`).exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`${name} occurs twice`)
      if (!/^(?:[^\\]|\\[\\n])*$/.test(rest)) throw new Error(`invalid escape in the help of ${name}`)
      help = { name, text: unescaped(rest) }
    } else if (kind === 'TYPE') {
      if (help?.name !== name) throw new Error(`${name} has no help before its type`)
      if (!/^(counter|gauge|histogram)$/.test(rest)) throw new Error(`unknown type ${rest}`)
      current = { name, family: { help: help.text, type: rest, samples: [] } }
      families.set(name, current.family)
    } else {
      const sample = sampleOf(line)
      const suffix = sample.name.slice(current?.name.length)
      const allowed = current?.family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!current || !sample.name.startsWith(current.name) || !allowed.includes(suffix))
        throw new Error(`${line} is outside its family`)
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`
      if (series.has(key)) throw new Error(`${key} occurs twice`)
      series.add(key)
      current.family.samples.push(sample)
    }
  }
  for (const [name, family] of families) checkFamily(name, family)
  const value = (name: string, labels: Labels = {}): number | undefined => {
    const key = JSON.stringify(Object.entries(labels).sort())
    for (const { samples } of families.values())
      for (const sample of samples)
        if (sample.name === name && JSON.stringify(Object.entries(sample.labels).sort()) === key)
          return sample.value
    return undefined
  }
  return { families, series, value }
}

const unescaped = (text: string) => text.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped))

function sampleOf(line: string) {
  const [, name, labelText = '', number = ''] = SAMPLE.exec(line) ?? []
  if (name === undefined || !NUMBER.test(number)) throw new Error(`not a sample: ${line}`)
  const labels: Record<string, string> = {}
  for (let rest = labelText; rest !== ''; ) {
    const [all, label, escaped] = LABEL.exec(rest) ?? []
    if (all === undefined || label! in labels) throw new Error(`invalid labels: ${line}`)
    labels[label!] = unescaped(escaped!)
    rest = rest.slice(all.length)
  }
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) }
}

/** Checks that counters are not negative and that buckets are ordered, cumulative and end with the count. */
function checkFamily(name: string, { type, samples }: Family): void {
  if (samples.length === 0) throw new Error(`${name} has no sample`)
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} is negative`)
  if (type !== 'histogram') return
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`)
  const count = samples.filter((sample) => sample.name === `${name}_count`)
  const sum = samples.filter((sample) => sample.name === `${name}_sum`)
  if (count.length !== 1 || sum.length !== 1) throw new Error(`${name} needs one sum and one count`)
  let before = { bound: Number.NEGATIVE_INFINITY, value: 0 }
  for (const { labels, value } of buckets) {
    const bound = Number(labels.le?.replace('Inf', 'Infinity'))
    if (!(bound > before.bound) || value < before.value) throw new Error(`${name} is not cumulative`)
    before = { bound, value }
  }
  if (before.bound !== Number.POSITIVE_INFINITY || before.value !== count[0]!.value)
    throw new Error(`${name} does not end with +Inf`)
}
