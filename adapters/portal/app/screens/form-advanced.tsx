/** The settings that most webhooks leave as they are. Closed, it says their values in one line. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Field } from '../components/field.js'
import { Icon } from '../components/icon.js'
import { Seg } from '../components/seg.js'
import { spanText } from '../components/time.js'
import { t } from '../state/translate.js'
import { CallFilterError, callFilterOf, filterOf } from '../text/call-filter.js'
import { AGE_UNITS, type AgeUnit, type FormValues, parseObject } from '../text/webhook-form.js'
import type { FormState } from './form-state.js'

type TextName =
  | 'retries'
  | 'maxAge'
  | 'rate'
  | 'group'
  | 'headers'
  | 'customData'
  | 'caller'
  | 'called'
  | 'filter'
type ChoiceName = 'ordering' | 'verb' | 'format' | 'direction'
type Choices = readonly (readonly [value: string, text: string])[]

const FIELDS: readonly (keyof FormValues)[] = [
  'retries',
  'maxAge',
  'rate',
  'group',
  'headers',
  'customData',
  'caller',
  'called',
  'filter',
  'ordering',
  'verb',
  'format',
  'direction',
]

export function Advanced({ form }: { readonly form: FormState }) {
  const isOpen = useSignal(false)
  const values = form.values.value
  const isWrong = FIELDS.some((name) => form.reasons[name] !== undefined)
  const text = (
    name: TextName,
    label: string,
    more: { hint?: string; example?: string; rows?: number; mode?: 'numeric' | 'decimal' } = {},
    beside?: ComponentChildren,
  ) => {
    const attributes = {
      value: values[name],
      placeholder: more.example,
      autocapitalize: 'none',
      autocomplete: 'off',
      spellcheck: false,
      onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
        form.set({ [name]: event.currentTarget.value }),
    } as const
    return (
      <Field label={label} hint={more.hint} problem={form.reasons[name]}>
        {more.rows === undefined ? (
          <input {...attributes} inputMode={more.mode ?? 'text'} />
        ) : (
          <textarea {...attributes} rows={more.rows} />
        )}
        {beside}
      </Field>
    )
  }
  const choice = (name: ChoiceName, label: string, choices: Choices, hint?: string) => (
    <Field label={label} hint={hint} problem={form.reasons[name]}>
      <select value={values[name]} onChange={(event) => form.set({ [name]: event.currentTarget.value })}>
        {choices.map(([value, shown]) => (
          <option key={value} value={value}>
            {shown}
          </option>
        ))}
      </select>
    </Field>
  )
  const check = (name: 'hasSubaccounts' | 'hasInternalLegs', label: string) => (
    <label class="tick">
      <input
        type="checkbox"
        checked={values[name]}
        onChange={(event) => form.set({ [name]: event.currentTarget.checked })}
      />
      {label}
    </label>
  )
  return (
    <details
      class="panel"
      open={isOpen.value || isWrong}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open
      }}
    >
      <summary class="pad">
        <Icon name="right" />
        <span>
          <b>{t('form.advanced')}</b> <span class="hint">{summaryOf(values)}</span>
        </span>
      </summary>
      <div class="pad stack">
        <h2>{t('form.sending')}</h2>
        <div class="two">
          {text('retries', t('form.retries'), { hint: t('form.retriesHint'), example: '5', mode: 'numeric' })}
          {text(
            'maxAge',
            t('form.maxAge'),
            { hint: t('form.maxAgeHint'), example: '24', mode: 'decimal' },
            <select
              aria-label={t('form.unit')}
              value={values.maxAgeUnit}
              onChange={(event) => form.set({ maxAgeUnit: event.currentTarget.value as AgeUnit })}
            >
              {(Object.keys(AGE_UNITS) as AgeUnit[]).map((name) => (
                <option key={name} value={name}>
                  {t(`form.unit.${name}`)}
                </option>
              ))}
            </select>,
          )}
          {choice('ordering', t('form.ordering'), ORDERS(), t('form.orderHint'))}
          {text('rate', t('form.rate'), { hint: t('form.rateHint'), example: '10', mode: 'decimal' })}
        </div>
        <h2>{t('form.request')}</h2>
        <div class="two">
          {choice('verb', t('form.verb'), VERBS)}
          {choice('format', t('form.format'), FORMATS())}
        </div>
        {text('headers', t('form.headers'), {
          hint: t('form.headersHint'),
          example: 'Authorization: Bearer 7f3a…\nX-Tenant: berlin',
          rows: 2,
        })}
        {text('customData', t('form.customData'), {
          hint: t('form.customDataHint'),
          example: 'site: Berlin\nteam: sales',
          rows: 2,
        })}
        <h2>{t('form.calls')}</h2>
        <FilterFields {...{ form, text, choice }} />
        {check('hasSubaccounts', t('form.subaccounts'))}
        {check('hasInternalLegs', t('form.internalLegs'))}
        <h2>{t('form.list')}</h2>
        {text('group', t('form.group'), { hint: t('form.groupHint'), example: 'CRM' })}
      </div>
    </details>
  )
}

const VERBS: Choices = ['post', 'put', 'patch', 'get', 'delete'].map(
  (verb) => [verb, verb.toUpperCase()] as const,
)
const FORMATS = (): Choices => [
  ['json', 'JSON'],
  ['form-data', t('form.formData')],
]
const ORDERS = (): Choices => [
  ['call', t('form.orderCall')],
  ['strict', t('form.orderStrict')],
  ['none', t('form.orderNone')],
]

interface FilterFieldsProps {
  readonly form: FormState
  readonly text: (
    name: TextName,
    label: string,
    more: { hint?: string; example?: string; rows?: number },
  ) => ComponentChildren
  readonly choice: (name: ChoiceName, label: string, choices: Choices, hint?: string) => ComponentChildren
}

/** Which calls: by side and number, or a filter that somebody writes as JSON. */
function FilterFields({ form, text, choice }: FilterFieldsProps) {
  const isTooComplex = useSignal(false)
  const { isFilterJson, filter } = form.values.value
  const toJson = () => {
    try {
      const conditions = filterOf(form.values.peek())
      form.set({ isFilterJson: true, filter: conditions ? JSON.stringify(conditions, undefined, 2) : '' })
    } catch (thrown) {
      // What is wrong with a number is said when the form is saved.
      if (!(thrown instanceof CallFilterError)) throw thrown
      form.set({ isFilterJson: true })
    }
  }
  const toConditions = () => {
    const conditions =
      filter.trim() === '' ? callFilterOf(undefined) : callFilterOf(parseObject(filter) ?? {})
    isTooComplex.value = conditions === undefined
    if (conditions) form.set({ isFilterJson: false, ...conditions })
  }
  return (
    <>
      <div>
        <Seg
          label={t('form.filterBy')}
          value={isFilterJson ? 'json' : 'fields'}
          onChange={(value) => (value === 'json' ? toJson() : toConditions())}
          options={[
            { value: 'fields', text: t('form.filterFields') },
            { value: 'json', text: t('form.filterJson') },
          ]}
        />
        {isTooComplex.value && <p class="hint is-bad">{t('form.filterTooComplex')}</p>}
      </div>
      {isFilterJson ? (
        text('filter', t('form.filter'), {
          hint: t('form.filterHint'),
          example: '{"prefix": {"caller_id_number": "+4930"}}',
          rows: 4,
        })
      ) : (
        <>
          {choice(
            'direction',
            t('form.direction'),
            [
              ['', t('form.directionBoth')],
              ['inbound', t('form.directionInbound')],
              ['outbound', t('form.directionOutbound')],
            ],
            t('form.directionHint'),
          )}
          <div class="two">
            {text('caller', t('form.caller'), { hint: t('form.numberHint'), example: '+4930*, +4420*' })}
            {text('called', t('form.called'), { hint: t('form.numberHint'), example: '2001, 2002' })}
          </div>
        </>
      )}
    </>
  )
}

/** The values in one line. */
function summaryOf(values: FormValues): string {
  const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '').length
  const [headers, fields] = [lines(values.headers), lines(values.customData)]
  const isFiltered = values.isFilterJson
    ? values.filter.trim() !== ''
    : values.direction !== '' || values.caller.trim() !== '' || values.called.trim() !== ''
  const count = Number(values.retries)
  const age = Number(values.maxAge) * AGE_UNITS[values.maxAgeUnit]
  const parts = [
    values.retries !== '' && Number.isInteger(count) && t('form.sumRetries', { count }),
    values.maxAge !== '' && Number.isFinite(age) && t('form.sumMaxAge', { age: spanText(age * 1_000) }),
    (ORDERS().find(([order]) => order === values.ordering) ?? [])[1],
    t('form.sumRequest', {
      verb: values.verb.toUpperCase(),
      format: values.format === 'json' ? 'JSON' : t('form.formData'),
    }),
    values.rate !== '' && t('form.sumRate', { rate: values.rate }),
    headers > 0 && t('form.sumHeaders', { count: headers }),
    fields > 0 && t('form.sumFields', { count: fields }),
    isFiltered && t('form.sumFilter'),
    values.hasSubaccounts && t('form.sumSubaccounts'),
    values.group !== '' && t('form.sumGroup', { group: values.group }),
  ]
  return parts.filter(Boolean).join(', ')
}
