/** What the parts of the form of a webhook share: its values, and what is wrong with them. */
import type { Signal } from '@preact/signals'
import { HookswitchClientError } from 'hookswitch/client'
import { problemText, t } from '../state/translate.js'
import { fieldProblems } from '../text/field-problems.js'
import type { FormProblem, FormValues } from '../text/webhook-form.js'

/** Fields that the service names otherwise. */
const FIELDS: Readonly<Record<string, keyof FormValues>> = {
  hook: 'kinds',
  only: 'kinds',
  http_verb: 'verb',
  max_age_seconds: 'maxAge',
  rate_limit: 'rate',
  include_subaccounts: 'hasSubaccounts',
  include_internal_legs: 'hasInternalLegs',
  custom_request_headers: 'headers',
  custom_data: 'customData',
}

/** What is wrong, by the field of the form; `other`: it belongs to none. */
export type Reasons = Readonly<Partial<Record<keyof FormValues | 'other', string>>>

export interface FormState {
  readonly accountId: string
  readonly values: Signal<FormValues>
  readonly reasons: Reasons
  set(changes: Partial<FormValues>): void
}

const LOCAL = {
  kinds: 'form.noEvents',
  headers: 'rule.notPairs',
  customData: 'rule.notPairs',
  filter: 'rule.notJson',
  caller: 'form.notNumbers',
  called: 'form.notNumbers',
} as const

let wantedTest: string | undefined

/** The form tests this address as soon as it is open. Not in the address of the page: no link sends anything by itself. */
export function wantTest(uri: string): void {
  wantedTest = uri
}

/** Whether the address is to be tested; once. */
export function takeWantedTest(uri: string | undefined): boolean {
  const isWanted = wantedTest !== undefined && wantedTest === uri
  wantedTest = undefined
  return isWanted
}

/** The reason for a field whose value cannot be sent at all. */
export const localReasons = (problem: FormProblem): Reasons => ({ [problem]: t(LOCAL[problem]) })

/** The reasons of the service; `undefined`: it did not refuse a value. */
export function serviceReasons(error: unknown, values: FormValues): Reasons | undefined {
  if (!(error instanceof HookswitchClientError)) return undefined
  const problems = fieldProblems(error.data)
  if (problems.length === 0) return undefined
  const reasons: Partial<Record<keyof FormValues | 'other', string>> = {}
  for (const problem of problems) {
    const name = FIELDS[problem.field] ?? problem.field
    const isShown = Object.hasOwn(values, name) && !(name === 'filter' && !values.isFilterJson)
    const field = isShown ? (name as keyof FormValues) : 'other'
    const text = isShown ? problemText(problem) : `${problem.field}: ${problemText(problem)}`
    reasons[field] = [reasons[field], text].filter(Boolean).join('\n')
  }
  return reasons
}
