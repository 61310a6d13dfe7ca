/** A modal dialog of the browser's own: focus stays inside, Escape closes it. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { Action } from '../state/action.js'
import { t } from '../state/translate.js'
import { Button, type ButtonProps } from './button.js'
import { Icon } from './icon.js'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** The buttons below; the primary one is the last. */
  readonly footer?: ComponentChildren
  /** Absent: the dialog cannot be closed. */
  readonly onClose?: () => void
}

/** What gets the focus: the first field, otherwise the first button of the answer. */
const FIRST = ':is(input, select, textarea):not(:disabled), footer button'

export function Dialog({ title, children, footer, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current!
    const opener = document.activeElement
    element.showModal()
    // The browser would choose the button that closes it, which comes first.
    element.querySelector<HTMLElement>(FIRST)?.focus()
    return () => {
      element.close()
      // The element is being taken out of the document, where the browser gives the focus back to nobody.
      queueMicrotask(() => {
        if (document.activeElement === document.body && opener instanceof HTMLElement) opener.focus()
      })
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div class="title">
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button type="button" class="btn quiet icon push" aria-label={t('action.close')} onClick={onClose}>
            <Icon name="x" />
          </button>
        )}
      </div>
      <div class="stack">{children}</div>
      {footer && <footer>{footer}</footer>}
    </dialog>
  )
}

interface ConfirmButtonProps {
  readonly action: Action
  /** On the button, and the title of the question if it has no other. */
  readonly label: string
  readonly title?: string
  readonly text: ComponentChildren
  /** The verb on the button of the question. */
  readonly verb: string
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  /** Look of the button. Default: plain */
  readonly look?: Pick<ButtonProps, 'kind' | 'size' | 'icon'>
}

/** A button that asks before something that cannot be undone, or that sends requests. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { action, label, title = label, text, verb, isDangerous = false, isDisabled = false, look } = props
  const isAsking = useSignal(false)
  return (
    <>
      <Button
        {...look}
        disabled={isDisabled}
        busy={action.isRunning.value ? label : undefined}
        onClick={() => {
          isAsking.value = true
        }}
      >
        {label}
      </Button>
      {isAsking.value && (
        <Confirm
          {...{ title, text, verb, isDangerous }}
          onClose={() => {
            isAsking.value = false
          }}
          onConfirm={() => void action.run()}
        />
      )}
    </>
  )
}

interface ConfirmProps {
  readonly title: string
  readonly text: ComponentChildren
  readonly verb: string
  readonly isDangerous?: boolean
  /** Closes the question. */
  readonly onClose: () => void
  /** After the question is closed. */
  readonly onConfirm: () => void
}

/** A question with one answer that does something. */
export function Confirm({ title, text, verb, isDangerous = false, onClose, onConfirm }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button
            kind={isDangerous ? 'danger' : 'primary'}
            onClick={() => {
              onClose()
              onConfirm()
            }}
          >
            {verb}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  )
}
