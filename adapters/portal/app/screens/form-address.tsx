/** The address of the receiver, which is checked when it has been typed. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type AddressCheck, checkAddress } from '../api/address-check.js'
import { Button } from '../components/button.js'
import { Field } from '../components/field.js'
import { Icon } from '../components/icon.js'
import { canChange } from '../state/scope.js'
import { failureText, t } from '../state/translate.js'
import { addressProblem } from '../text/address.js'
import type { FormState } from './form-state.js'

/** The result of a check, and of which address. */
interface Checked {
  readonly uri: string
  /** Absent: it is being checked. */
  readonly check?: AddressCheck
}

export function AddressField({ form }: { readonly form: FormState }) {
  const checked = useSignal<Checked | undefined>(undefined)
  const initial = useRef(form.values.peek().uri)
  const running = useRef<AbortController | undefined>(undefined)
  const uri = form.values.value.uri.trim()
  const check = async (address: string) => {
    // Nothing has changed since the form was opened, or since the last check.
    if (address === (checked.peek()?.uri ?? initial.current)) return
    running.current?.abort()
    if (address === '' || !canChange.peek() || addressProblem(address) !== undefined) {
      checked.value = { uri: address }
      return
    }
    const controller = new AbortController()
    running.current = controller
    const found = await checkAddress(form.accountId, address, controller.signal).catch(() => undefined)
    if (!controller.signal.aborted) checked.value = found && { uri: address, check: found }
  }
  useEffect(() => () => running.current?.abort(), [])
  const mend = (better: string) => {
    form.set({ uri: better })
    void check(better)
  }
  const note = checked.value?.uri === uri ? noteOf(uri, checked.value.check) : undefined
  const mending = note?.better !== undefined && (
    <>
      {' '}
      <Button size="tiny" onClick={() => mend(note.better!)}>
        {t('form.useAddress', { address: note.better })}
      </Button>
    </>
  )
  return (
    <Field
      label={t('form.uri')}
      hint={
        note && !note.isWrong ? (
          <>
            <span class={`state is-${note.role} strong`}>
              <Icon name={note.role === 'ok' ? 'ok' : 'wait'} />
              <span>{note.text}</span>
            </span>
            {mending}
          </>
        ) : (
          t('form.uriHint')
        )
      }
      problem={
        form.reasons.uri ??
        (note?.isWrong && (
          <>
            {note.text}
            {mending}
          </>
        ))
      }
    >
      <input
        type="url"
        value={form.values.value.uri}
        placeholder="https://your-server.com/calls"
        autocapitalize="none"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => form.set({ uri: event.currentTarget.value })}
        onBlur={(event) => void check(event.currentTarget.value.trim())}
      />
    </Field>
  )
}

interface AddressNote {
  readonly role: 'ok' | 'warn'
  /** Whether it cannot be saved as it is. */
  readonly isWrong: boolean
  readonly text: string
  /** An address without the problem. */
  readonly better?: string
}

/** `undefined`: nothing is known. */
function noteOf(uri: string, check: AddressCheck | undefined): AddressNote | undefined {
  if (uri === '') return undefined
  const local = addressProblem(uri)
  if (local)
    return {
      role: 'warn',
      isWrong: true,
      text: t(local.code === 'scheme' ? 'form.checkScheme' : 'form.checkInvalid'),
      ...(local.better !== undefined && { better: local.better }),
    }
  if (!check) return undefined
  const { ok, problem, host = '', port = '', scheme, warnings = [] } = check
  if (ok && !warnings.includes('not_encrypted'))
    return { role: 'ok', isWrong: false, text: t('form.checkGood') }
  if (ok) return { role: 'warn', isWrong: false, text: t('form.checkPlain') }
  const code = problem?.code ?? ''
  const what = failureText(code)
  const note = (key: Parameters<typeof t>[0], isWrong = false): AddressNote => ({
    role: 'warn',
    isWrong,
    text: t(key, { host, port: String(port), what }),
  })
  if (code === 'scheme') return note('form.checkScheme', true)
  if (code === 'address_invalid') return note('form.checkInvalid', true)
  if (code === 'blocked_address') return note('form.checkBlocked', true)
  if (code === 'name_unknown') return note('form.checkName')
  if (code === 'name_server' || code === 'timeout_name') return note('form.checkNameServer')
  if (code.startsWith('certificate_')) return note('form.checkCertificate')
  if (scheme === 'https' && /tls/.test(code)) return note('form.checkTls')
  return note('form.checkConnection')
}
