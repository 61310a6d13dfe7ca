/** The form of a webhook, for a new one and for its settings. The service checks the values; its reasons are beside the fields. */
import { useComputed, useSignal } from '@preact/signals'
import type { Attempt } from 'hookswitch/client'
import { useEffect, useRef } from 'preact/hooks'
import type { TestResult } from '../api/test-webhook.js'
import { Button, LinkButton } from '../components/button.js'
import { Dialog } from '../components/dialog.js'
import { Exchange } from '../components/exchange.js'
import { Field } from '../components/field.js'
import { Note } from '../components/panel.js'
import { spanText } from '../components/time.js'
import { describe, useAction } from '../state/action.js'
import { kindName } from '../state/kinds.js'
import { canChange, isReadOnly } from '../state/scope.js'
import { failureText, t } from '../state/translate.js'
import { useUnsaved } from '../state/unsaved.js'
import { type FormValues, type SettingsInput, settingsOf } from '../text/webhook-form.js'
import { AddressField } from './form-address.js'
import { Advanced } from './form-advanced.js'
import { EventsField } from './form-events.js'
import { Preview } from './form-preview.js'
import { type FormState, localReasons, type Reasons, serviceReasons } from './form-state.js'

interface WebhookFormProps {
  readonly accountId: string
  readonly initial: FormValues
  readonly submitLabel: string
  /** On the button while it is saved. */
  readonly submitting: string
  /** @throws the error of the service */
  readonly onSubmit: (settings: SettingsInput) => Promise<void>
  /** Sends a test event without switching the webhook on. Absent: the form has no test. */
  readonly onTest?: (settings: SettingsInput, signal: AbortSignal) => Promise<TestResult>
  /** Sends the test at once. */
  readonly isTestedAtOnce?: boolean
  /** Where "Cancel" leads. */
  readonly cancelHref?: string
}

export function WebhookForm(props: WebhookFormProps) {
  const { accountId, initial, onSubmit, onTest } = props
  const element = useRef<HTMLFormElement>(null)
  const closing = useRef(new AbortController())
  const values = useSignal<FormValues>(initial)
  const reasons = useSignal<Reasons>({})
  /** An error that is about no value. */
  const failure = useSignal<string | undefined>(undefined)
  const isSaved = useSignal(false)
  const tested = useSignal<TestResult | undefined>(undefined)
  const settings = useComputed(() => settingsOf(values.value))
  const isChanged = tested.value !== undefined || JSON.stringify(values.value) !== JSON.stringify(initial)
  useUnsaved(!isSaved.value && isChanged)

  const form: FormState = {
    accountId,
    values,
    reasons: reasons.value,
    set(changes) {
      isSaved.value = false
      values.value = { ...values.peek(), ...changes }
    },
  }

  /** Runs one of the buttons with the checked values. */
  const perform = async (run: (input: SettingsInput) => Promise<void>) => {
    reasons.value = {}
    failure.value = undefined
    const input = settings.peek()
    if (input.problem !== undefined) reasons.value = localReasons(input.problem)
    else
      try {
        await run(input.settings)
      } catch (thrown) {
        isSaved.value = false
        const found = serviceReasons(thrown, values.peek())
        if (found) reasons.value = found
        else failure.value = describe(thrown)
      }
  }
  const submit = useAction(() =>
    perform(async (input) => {
      isSaved.value = true
      await onSubmit(input)
    }),
  )
  const test = useAction(() =>
    perform(async (input) => {
      tested.value = undefined
      const result = await onTest?.(input, closing.current.signal)
      if (!closing.current.signal.aborted) tested.value = result
    }),
  )
  useEffect(() => {
    if (props.isTestedAtOnce) void test.run()
    return () => closing.current.abort()
  }, [])
  // To the first field that is wrong.
  useEffect(() => {
    if (Object.keys(reasons.value).length > 0)
      element.current!.querySelector<HTMLElement>('[aria-invalid]')?.focus()
  }, [reasons.value])
  const hasReasons = Object.keys(reasons.value).length > 0
  return (
    <div class="split">
      <form
        ref={element}
        class="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit.run()
        }}
      >
        <Field label={t('form.name')} problem={form.reasons.name}>
          <input
            value={values.value.name}
            placeholder={t('form.nameExample')}
            autocomplete="off"
            onInput={(event) => form.set({ name: event.currentTarget.value })}
          />
        </Field>
        <AddressField form={form} />
        <EventsField form={form} />
        <Advanced form={form} />
        {hasReasons && (
          <Note tone="bad" icon="fail" isAlert>
            {form.reasons.other ?? t('form.invalid')}
          </Note>
        )}
        {failure.value !== undefined && (
          <Note tone="bad" icon="fail" isAlert>
            {failure.value}
          </Note>
        )}
        <div role="status">{tested.value && <TestNote result={tested.value} />}</div>
        <div class="save">
          <Button
            type="submit"
            kind="primary"
            disabled={!canChange.value}
            busy={submit.isRunning.value ? props.submitting : undefined}
          >
            {props.submitLabel}
          </Button>
          {onTest && (
            <Button
              icon="test"
              disabled={!canChange.value}
              busy={test.isRunning.value ? t('form.testing') : undefined}
              onClick={() => void test.run()}
            >
              {t(tested.value ? 'form.testAgain' : 'form.test')}
            </Button>
          )}
          {props.cancelHref !== undefined && (
            <LinkButton kind="quiet" href={props.cancelHref}>
              {t('action.cancel')}
            </LinkButton>
          )}
          {isReadOnly.value && <span class="soft">{t('error.readOnly')}</span>}
        </div>
      </form>
      <Preview form={form} />
    </div>
  )
}

/** What the receiver has answered to the test. */
function TestNote({ result: { attempt, checkCause } }: { readonly result: TestResult }) {
  const isShown = useSignal(false)
  if (checkCause !== undefined)
    return (
      <Note tone="bad" icon="fail">
        <b>{t('form.testedSilent', { what: failureText(checkCause) })}</b>
      </Note>
    )
  if (!attempt)
    return (
      <Note icon="wait">
        <b>{t('form.testWaits')}</b>
      </Note>
    )
  const isOk = attempt.result === 'success'
  return (
    <Note tone={isOk ? 'ok' : 'bad'} icon={isOk ? 'ok' : 'fail'}>
      <b>{answerOf(attempt)}</b> {t('form.tested', { event: kindName(attempt.hook_event) })}{' '}
      {!isOk && attempt.resp_status_code !== undefined && `${t('form.testedWrong')} `}
      <Button
        size="tiny"
        onClick={() => {
          isShown.value = true
        }}
      >
        {t('form.seeExchange')}
      </Button>
      {isShown.value && (
        <Dialog
          title={t('form.exchange')}
          onClose={() => {
            isShown.value = false
          }}
        >
          <Exchange attempt={attempt} />
        </Dialog>
      )}
    </Note>
  )
}

function answerOf({ resp_status_code: status, duration_ms: took = 0, cause, client_error: error }: Attempt) {
  return status === undefined
    ? t('form.testedSilent', { what: failureText(cause ?? error ?? 'connection_failed') })
    : t('form.testedStatus', { status, took: spanText(took) })
}
