resource "slo" "checkout" {
  name = "Checkout"
  target = 99.9
}
