/** The form of a webhook, for a new one and for its settings. The service checks the values; its reasons are beside the fields. */
import { useComputed, useSignal } from '@preact/signals'
import { type Hook, HookswitchClientError, type RequestPreview, type Webhook } from 'hookswitch/client'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { accountRequest, page } from '../api/api.js'
import { CopyButton } from '../components/copy.js'
import { Headers } from '../components/headers.js'
import { Body, Line } from '../components/hostile-text.js'
import { ActionButton } from '../components/load-state.js'
import { describe, useAction } from '../state/action.js'
import { useResource } from '../state/resource.js'
import { isReadOnly } from '../state/scope.js'
import { problemText, t } from '../state/translate.js'
import { fieldProblems } from '../text/field-problems.js'
import { type FormValues, formValues, type SettingsInput, settingsOf } from '../text/webhook-form.js'

interface WebhookFormProps {
  readonly accountId: string
  /** Absent: a new webhook. */
  readonly webhook?: Webhook
  readonly submitLabel: string
  /** @throws the error of the service */
  readonly onSubmit: (settings: SettingsInput) => Promise<void>
  /** A second way to submit. */
  readonly extra?: { readonly label: string; readonly run: (settings: SettingsInput) => Promise<void> }
}

const VERBS = ['post', 'put', 'patch', 'get', 'delete'] as const

export function WebhookForm({ accountId, webhook, submitLabel, onSubmit, extra }: WebhookFormProps) {
  const values = useSignal<FormValues>(formValues(webhook))
  const error = useSignal<unknown>(undefined)
  const preview = useSignal<RequestPreview | undefined>(undefined)
  const settings = useComputed(() => settingsOf(values.value))
  const reasons = reasonsOf(error.value)
  const hooks = useResource(() => page<Hook>('/webhooks', { pageSize: 1_000 }), [])

  /** Runs one of the buttons with the checked values. */
  const perform = async (run: (input: SettingsInput) => Promise<void>) => {
    error.value = undefined
    const input = settings.peek()
    if (input.problem !== undefined) {
      error.value = localProblem(input.problem)
      return
    }
    try {
      await run(input.settings)
    } catch (thrown) {
      error.value = thrown
    }
  }
  const submit = useAction(() => perform(onSubmit))
  const runExtra = useAction(() => perform(async (input) => extra?.run(input)))
  const showPreview = useAction(() =>
    perform(async (input) => {
      const data = { webhook: input }
      preview.value = await accountRequest<RequestPreview>('PUT', '/webhooks/preview', { accountId, data })
    }),
  )

  const set = <Name extends keyof FormValues>(name: Name, value: FormValues[Name]) => {
    values.value = { ...values.peek(), [name]: value }
  }
  type TextField = {
    [Name in keyof FormValues]: FormValues[Name] extends string ? Name : never
  }[keyof FormValues]
  const text = (
    name: TextField,
    label: string,
    more: { hint?: string; rows?: number; inputMode?: 'url' | 'numeric' | 'decimal' } = {},
  ) => (
    <Field label={label} hint={more.hint} reason={reasons[WIRE_NAMES[name]]}>
      {(attributes) =>
        more.rows === undefined ? (
          <input
            {...attributes}
            inputMode={more.inputMode ?? 'text'}
            value={values.value[name]}
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => set(name, event.currentTarget.value)}
          />
        ) : (
          <textarea
            {...attributes}
            rows={more.rows}
            value={values.value[name]}
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => set(name, event.currentTarget.value)}
          />
        )
      }
    </Field>
  )
  const select = (
    name: 'hook' | 'verb' | 'format' | 'ordering',
    label: string,
    options: readonly (readonly [string, string])[],
  ) => (
    <Field label={label} reason={reasons[WIRE_NAMES[name]]}>
      {(attributes) => (
        <select
          {...attributes}
          value={values.value[name]}
          onChange={(event) => set(name, event.currentTarget.value)}
        >
          {options.map(([value, shown]) => (
            <option key={value} value={value}>
              {shown}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
  const check = (name: 'isEnabled' | 'hasSubaccounts' | 'hasInternalLegs', label: string) => (
    <label class="choice">
      <input
        type="checkbox"
        checked={values.value[name]}
        onChange={(event) => set(name, event.currentTarget.checked)}
      />
      {label}
    </label>
  )
  const current = values.value
  const kinds = new Set([current.hook, ...(hooks.data.value?.items ?? []).map(({ id }) => id)])
  kinds.delete('all')
  return (
    <form
      class="settings"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit.run()
      }}
    >
      <div class="fields">
        {text('name', t('form.name'))}
        {text('uri', t('form.uri'), { hint: t('form.uriHint'), inputMode: 'url' })}
        {select('hook', t('form.hook'), [
          ['all', t('form.allHooks')],
          ...[...kinds].sort().map((id) => [id, id] as const),
        ])}
        {current.hook === 'all' && text('only', t('form.only'), { hint: t('form.onlyHint') })}
        {select(
          'verb',
          t('form.verb'),
          VERBS.map((verb) => [verb, verb.toUpperCase()] as const),
        )}
        {select('format', t('form.format'), [
          ['json', 'JSON'],
          ['form-data', t('form.formData')],
        ])}
        {text('retries', t('form.retries'), { hint: t('form.defaultHint'), inputMode: 'numeric' })}
        {text('maxAge', t('form.maxAge'), { hint: t('form.maxAgeHint'), inputMode: 'numeric' })}
        {text('rate', t('form.rate'), { hint: t('form.rateHint'), inputMode: 'decimal' })}
        {select('ordering', t('form.ordering'), [
          ['call', t('form.orderCall')],
          ['strict', t('form.orderStrict')],
          ['none', t('form.orderNone')],
        ])}
        {text('group', t('form.group'))}
      </div>
      <fieldset>
        <legend>{t('form.switches')}</legend>
        {check('isEnabled', t('form.enabled'))}
        {check('hasSubaccounts', t('form.subaccounts'))}
        {check('hasInternalLegs', t('form.internalLegs'))}
      </fieldset>
      <div class="fields wide">
        {text('headers', t('form.headers'), { hint: t('form.headersHint'), rows: 3 })}
        {text('customData', t('form.customData'), { hint: t('form.customDataHint'), rows: 3 })}
        {text('filter', t('form.filter'), { hint: t('form.filterHint'), rows: 3 })}
      </div>
      {error.value !== undefined && (
        <div class="problem" role="alert">
          <p>{areShown(reasons) ? t('form.invalid') : describe(error.value)}</p>
        </div>
      )}
      <p class="buttons">
        <button type="submit" class="primary" disabled={submit.isRunning.value || isReadOnly.value}>
          {submitLabel}
        </button>
        {isReadOnly.value && <span class="muted">{t('error.readOnly')}</span>}
        {extra && !isReadOnly.value && <ActionButton action={runExtra}>{extra.label}</ActionButton>}
        <ActionButton action={showPreview}>{t('form.preview')}</ActionButton>
      </p>
      {preview.value && <Preview preview={preview.value} />}
    </form>
  )
}

const WIRE_NAMES: Readonly<Record<keyof FormValues, string>> = {
  name: 'name',
  uri: 'uri',
  hook: 'hook',
  only: 'only',
  verb: 'http_verb',
  format: 'format',
  retries: 'retries',
  maxAge: 'max_age_seconds',
  rate: 'rate_limit',
  ordering: 'ordering',
  group: 'group',
  isEnabled: 'enabled',
  hasSubaccounts: 'include_subaccounts',
  hasInternalLegs: 'include_internal_legs',
  headers: 'custom_request_headers',
  customData: 'custom_data',
  filter: 'filter',
}

/** Whether there are reasons, each beside a field of the form. */
function areShown(reasons: Readonly<Record<string, string>>): boolean {
  const fields = Object.keys(reasons)
  return fields.length > 0 && fields.every((field) => Object.values(WIRE_NAMES).includes(field))
}

/** The error of the service for a value that cannot be sent at all. */
function localProblem(field: keyof FormValues): HookswitchClientError {
  const rule = field === 'filter' ? 'notJson' : 'notPairs'
  const message = t(`rule.${rule}`)
  return new HookswitchClientError('validation error', message, {
    status: 400,
    data: { [WIRE_NAMES[field]]: { [rule]: { message } } },
  })
}

/** What is wrong, by the name of the field. */
function reasonsOf(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof HookswitchClientError)) return {}
  const reasons: Record<string, string> = {}
  for (const problem of fieldProblems(error.data)) {
    const { field } = problem
    reasons[field] = [reasons[field], problemText(problem)].filter(Boolean).join('\n')
  }
  return reasons
}

interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly reason?: string | undefined
  readonly children: (attributes: {
    readonly id: string
    readonly 'aria-describedby'?: string
    readonly 'aria-invalid'?: boolean
  }) => ComponentChildren
}

function Field({ label, hint, reason, children }: FieldProps) {
  const id = useId()
  const described = hint !== undefined || reason !== undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described && { 'aria-describedby': `${id}-hint` }),
        ...(reason !== undefined && { 'aria-invalid': true }),
      })}
      {described && (
        <span id={`${id}-hint`} class={reason === undefined ? 'muted' : 'reason'}>
          {reason ?? hint}
        </span>
      )}
    </div>
  )
}

function Preview({ preview }: { readonly preview: RequestPreview }) {
  const { method, uri, headers, body } = preview
  return (
    <section class="preview" aria-label={t('form.previewTitle')}>
      <h2>{t('form.previewTitle')}</h2>
      <p class="number">
        <Line text={`${method.toUpperCase()} ${uri}`} />
      </p>
      <Headers headers={headers} />
      {body !== undefined && body !== '' && <Body text={body} label={t('attempt.requestBody')} />}
      <CopyButton label={t('attempt.curl')} text={() => preview.curl} />
    </section>
  )
}
