// Kernels and bytes of well-known programs: the least that the programs can move, where one kernel can do them.
//
// RUN: weft-opt %s -split-input-file -pass-pipeline="builtin.module(fusion-pipeline,print-kernels)" -o %t 2>&1 | FileCheck %s

// Softmax over rows.
// CHECK: kernels: 1, bytes: 8388608
func.func @main(%x: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
  %m = weft.reduce max, %x dims = [1] : (tensor<1024x1024xf32>) -> tensor<1024xf32>
  %mb = weft.broadcast_in_dim %m dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %d = weft.subtract %x, %mb : tensor<1024x1024xf32>
  %e = weft.exponential %d : tensor<1024x1024xf32>
  %s = weft.reduce sum, %e dims = [1] : (tensor<1024x1024xf32>) -> tensor<1024xf32>
  %sb = weft.broadcast_in_dim %s dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %y = weft.divide %e, %sb : tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// Layer norm with a scale and a shift.
// CHECK: kernels: 1, bytes: 8396800
func.func @main(%x: tensor<1024x1024xf32>, %gamma: tensor<1024xf32>, %beta: tensor<1024xf32>) -> (tensor<1024x1024xf32>) {
  %n = weft.constant dense<1024.0> : tensor<f32>
  %eps = weft.constant dense<1.0e-05> : tensor<f32>
  %nr = weft.broadcast_in_dim %n dims = [] : (tensor<f32>) -> tensor<1024xf32>
  %er = weft.broadcast_in_dim %eps dims = [] : (tensor<f32>) -> tensor<1024xf32>
  %sum = weft.reduce sum, %x dims = [1] : (tensor<1024x1024xf32>) -> tensor<1024xf32>
  %mean = weft.divide %sum, %nr : tensor<1024xf32>
  %meanb = weft.broadcast_in_dim %mean dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %c = weft.subtract %x, %meanb : tensor<1024x1024xf32>
  %sq = weft.multiply %c, %c : tensor<1024x1024xf32>
  %ss = weft.reduce sum, %sq dims = [1] : (tensor<1024x1024xf32>) -> tensor<1024xf32>
  %var = weft.divide %ss, %nr : tensor<1024xf32>
  %ve = weft.add %var, %er : tensor<1024xf32>
  %rs = weft.rsqrt %ve : tensor<1024xf32>
  %rsb = weft.broadcast_in_dim %rs dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %nrm = weft.multiply %c, %rsb : tensor<1024x1024xf32>
  %gb = weft.broadcast_in_dim %gamma dims = [1] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %g = weft.multiply %nrm, %gb : tensor<1024x1024xf32>
  %bb = weft.broadcast_in_dim %beta dims = [1] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %y = weft.add %g, %bb : tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// RMS norm with a scale.
// CHECK: kernels: 1, bytes: 8392704
func.func @main(%x: tensor<1024x1024xf32>, %gamma: tensor<1024xf32>) -> (tensor<1024x1024xf32>) {
  %n = weft.constant dense<1024.0> : tensor<f32>
  %eps = weft.constant dense<1.0e-05> : tensor<f32>
  %nr = weft.broadcast_in_dim %n dims = [] : (tensor<f32>) -> tensor<1024xf32>
  %er = weft.broadcast_in_dim %eps dims = [] : (tensor<f32>) -> tensor<1024xf32>
  %sq = weft.multiply %x, %x : tensor<1024x1024xf32>
  %ss = weft.reduce sum, %sq dims = [1] : (tensor<1024x1024xf32>) -> tensor<1024xf32>
  %var = weft.divide %ss, %nr : tensor<1024xf32>
  %ve = weft.add %var, %er : tensor<1024xf32>
  %rs = weft.rsqrt %ve : tensor<1024xf32>
  %rsb = weft.broadcast_in_dim %rs dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %nrm = weft.multiply %x, %rsb : tensor<1024x1024xf32>
  %gb = weft.broadcast_in_dim %gamma dims = [1] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %y = weft.multiply %nrm, %gb : tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// gelu(x @ y): the whole of gelu is the epilogue, though x is used twice.
// CHECK: kernels: 1, bytes: 12582912
func.func @main(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %half = weft.constant dense<0.5> : tensor<f32>
  %halfb = weft.broadcast_in_dim %half dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
  %r = weft.constant dense<0.707106769> : tensor<f32>
  %rb = weft.broadcast_in_dim %r dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %oneb = weft.broadcast_in_dim %one dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
  %hx = weft.multiply %d, %halfb : tensor<1024x1024xf32>
  %sx = weft.multiply %d, %rb : tensor<1024x1024xf32>
  %erf = weft.erf %sx : tensor<1024x1024xf32>
  %e1 = weft.add %erf, %oneb : tensor<1024x1024xf32>
  %y = weft.multiply %hx, %e1 : tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// Matrix multiplication, bias, relu and a residual.
// CHECK: kernels: 1, bytes: 16781312
func.func @main(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>, %b: tensor<1024xf32>, %res: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>) {
  %d = weft.dot_general %x, %w contract = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %bb = weft.broadcast_in_dim %b dims = [1] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
  %z = weft.add %d, %bb : tensor<1024x1024xf32>
  %zero = weft.constant dense<0.0> : tensor<f32>
  %zb = weft.broadcast_in_dim %zero dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
  %re = weft.maximum %z, %zb : tensor<1024x1024xf32>
  %y = weft.add %re, %res : tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}

// -----

// Softmax, 10 x 10: 200 elements.
// CHECK: kernels: 1, bytes: 800
func.func @main(%x: tensor<10x10xf32>) -> (tensor<10x10xf32>) {
  %m = weft.reduce max, %x dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %mb = weft.broadcast_in_dim %m dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %d = weft.subtract %x, %mb : tensor<10x10xf32>
  %e = weft.exponential %d : tensor<10x10xf32>
  %s = weft.reduce sum, %e dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %sb = weft.broadcast_in_dim %s dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %y = weft.divide %e, %sb : tensor<10x10xf32>
  return %y : tensor<10x10xf32>
}

// -----

// Softmax of a softmax: 200 elements.
// CHECK: kernels: 1, bytes: 800
func.func @main(%x: tensor<10x10xf32>) -> (tensor<10x10xf32>) {
  %pm = weft.reduce max, %x dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %pmb = weft.broadcast_in_dim %pm dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %pd = weft.subtract %x, %pmb : tensor<10x10xf32>
  %pe = weft.exponential %pd : tensor<10x10xf32>
  %ps = weft.reduce sum, %pe dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %psb = weft.broadcast_in_dim %ps dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %a = weft.divide %pe, %psb : tensor<10x10xf32>
  %qm = weft.reduce max, %a dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %qmb = weft.broadcast_in_dim %qm dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %qd = weft.subtract %a, %qmb : tensor<10x10xf32>
  %qe = weft.exponential %qd : tensor<10x10xf32>
  %qs = weft.reduce sum, %qe dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %qsb = weft.broadcast_in_dim %qs dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %y = weft.divide %qe, %qsb : tensor<10x10xf32>
  return %y : tensor<10x10xf32>
}

// -----

// Three norms in a chain: 200 elements.
// CHECK: kernels: 1, bytes: 800
func.func @main(%x: tensor<10x10xf32>) -> (tensor<10x10xf32>) {
  %pn = weft.constant dense<10.0> : tensor<f32>
  %peps = weft.constant dense<1.0e-05> : tensor<f32>
  %pnr = weft.broadcast_in_dim %pn dims = [] : (tensor<f32>) -> tensor<10xf32>
  %per = weft.broadcast_in_dim %peps dims = [] : (tensor<f32>) -> tensor<10xf32>
  %psum = weft.reduce sum, %x dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %pmean = weft.divide %psum, %pnr : tensor<10xf32>
  %pmeanb = weft.broadcast_in_dim %pmean dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %pc = weft.subtract %x, %pmeanb : tensor<10x10xf32>
  %psq = weft.multiply %pc, %pc : tensor<10x10xf32>
  %pss = weft.reduce sum, %psq dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %pvar = weft.divide %pss, %pnr : tensor<10xf32>
  %pve = weft.add %pvar, %per : tensor<10xf32>
  %prs = weft.rsqrt %pve : tensor<10xf32>
  %prsb = weft.broadcast_in_dim %prs dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %a = weft.multiply %pc, %prsb : tensor<10x10xf32>
  %qn = weft.constant dense<10.0> : tensor<f32>
  %qeps = weft.constant dense<1.0e-05> : tensor<f32>
  %qnr = weft.broadcast_in_dim %qn dims = [] : (tensor<f32>) -> tensor<10xf32>
  %qer = weft.broadcast_in_dim %qeps dims = [] : (tensor<f32>) -> tensor<10xf32>
  %qsum = weft.reduce sum, %a dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %qmean = weft.divide %qsum, %qnr : tensor<10xf32>
  %qmeanb = weft.broadcast_in_dim %qmean dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %qc = weft.subtract %a, %qmeanb : tensor<10x10xf32>
  %qsq = weft.multiply %qc, %qc : tensor<10x10xf32>
  %qss = weft.reduce sum, %qsq dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %qvar = weft.divide %qss, %qnr : tensor<10xf32>
  %qve = weft.add %qvar, %qer : tensor<10xf32>
  %qrs = weft.rsqrt %qve : tensor<10xf32>
  %qrsb = weft.broadcast_in_dim %qrs dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %b = weft.multiply %qc, %qrsb : tensor<10x10xf32>
  %rn = weft.constant dense<10.0> : tensor<f32>
  %reps = weft.constant dense<1.0e-05> : tensor<f32>
  %rnr = weft.broadcast_in_dim %rn dims = [] : (tensor<f32>) -> tensor<10xf32>
  %rer = weft.broadcast_in_dim %reps dims = [] : (tensor<f32>) -> tensor<10xf32>
  %rsum = weft.reduce sum, %b dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %rmean = weft.divide %rsum, %rnr : tensor<10xf32>
  %rmeanb = weft.broadcast_in_dim %rmean dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %rc = weft.subtract %b, %rmeanb : tensor<10x10xf32>
  %rsq = weft.multiply %rc, %rc : tensor<10x10xf32>
  %rss = weft.reduce sum, %rsq dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %rvar = weft.divide %rss, %rnr : tensor<10xf32>
  %rve = weft.add %rvar, %rer : tensor<10xf32>
  %rrs = weft.rsqrt %rve : tensor<10xf32>
  %rrsb = weft.broadcast_in_dim %rrs dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %y = weft.multiply %rc, %rrsb : tensor<10x10xf32>
  return %y : tensor<10x10xf32>
}

// -----

// Layer norm: 220 elements.
// CHECK: kernels: 1, bytes: 880
func.func @main(%x: tensor<10x10xf32>, %gamma: tensor<10xf32>, %beta: tensor<10xf32>) -> (tensor<10x10xf32>) {
  %n = weft.constant dense<10.0> : tensor<f32>
  %eps = weft.constant dense<1.0e-05> : tensor<f32>
  %nr = weft.broadcast_in_dim %n dims = [] : (tensor<f32>) -> tensor<10xf32>
  %er = weft.broadcast_in_dim %eps dims = [] : (tensor<f32>) -> tensor<10xf32>
  %sum = weft.reduce sum, %x dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %mean = weft.divide %sum, %nr : tensor<10xf32>
  %meanb = weft.broadcast_in_dim %mean dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %c = weft.subtract %x, %meanb : tensor<10x10xf32>
  %sq = weft.multiply %c, %c : tensor<10x10xf32>
  %ss = weft.reduce sum, %sq dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %var = weft.divide %ss, %nr : tensor<10xf32>
  %ve = weft.add %var, %er : tensor<10xf32>
  %rs = weft.rsqrt %ve : tensor<10xf32>
  %rsb = weft.broadcast_in_dim %rs dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %nrm = weft.multiply %c, %rsb : tensor<10x10xf32>
  %gb = weft.broadcast_in_dim %gamma dims = [1] : (tensor<10xf32>) -> tensor<10x10xf32>
  %g = weft.multiply %nrm, %gb : tensor<10x10xf32>
  %bb = weft.broadcast_in_dim %beta dims = [1] : (tensor<10xf32>) -> tensor<10x10xf32>
  %y = weft.add %g, %bb : tensor<10x10xf32>
  return %y : tensor<10x10xf32>
}

// -----

// The gradient of softmax from its result and the gradient of that: 300 elements.
// CHECK: kernels: 1, bytes: 1200
func.func @main(%y: tensor<10x10xf32>, %g: tensor<10x10xf32>) -> (tensor<10x10xf32>) {
  %p = weft.multiply %y, %g : tensor<10x10xf32>
  %s = weft.reduce sum, %p dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %sb = weft.broadcast_in_dim %s dims = [0] : (tensor<10xf32>) -> tensor<10x10xf32>
  %d = weft.subtract %g, %sb : tensor<10x10xf32>
  %r = weft.multiply %y, %d : tensor<10x10xf32>
  return %r : tensor<10x10xf32>
}

// -----

// Sum and largest absolute value of each row together: 120 elements.
// CHECK: kernels: 1, bytes: 480
func.func @main(%x: tensor<10x10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %s = weft.reduce sum, %x dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  %a = weft.abs %x : tensor<10x10xf32>
  %m = weft.reduce max, %a dims = [1] : (tensor<10x10xf32>) -> tensor<10xf32>
  return %s, %m : tensor<10xf32>, tensor<10xf32>
}

// -----

// a + transposed b: 300 elements.
// CHECK: kernels: 1, bytes: 1200
func.func @main(%a: tensor<10x10xf32>, %b: tensor<10x10xf32>) -> (tensor<10x10xf32>) {
  %t = weft.transpose %b perm = [1, 0] : (tensor<10x10xf32>) -> tensor<10x10xf32>
  %y = weft.add %a, %t : tensor<10x10xf32>
  return %y : tensor<10x10xf32>
}

// -----

// Attention, 2 x 8 heads: two matrix multiplications, the first with the scale, and a softmax.
// CHECK: kernels: 3, bytes: 6291456
func.func @main(%q: tensor<16x128x64xf32>, %k: tensor<16x128x64xf32>, %v: tensor<16x128x64xf32>) -> (tensor<16x128x64xf32>) {
  %d = weft.dot_general %q, %k batch = [0] x [0] contract = [2] x [2] : (tensor<16x128x64xf32>, tensor<16x128x64xf32>) -> tensor<16x128x128xf32>
  %c = weft.constant dense<0.125> : tensor<f32>
  %cb = weft.broadcast_in_dim %c dims = [] : (tensor<f32>) -> tensor<16x128x128xf32>
  %s = weft.multiply %d, %cb : tensor<16x128x128xf32>
  %m = weft.reduce max, %s dims = [2] : (tensor<16x128x128xf32>) -> tensor<16x128xf32>
  %mb = weft.broadcast_in_dim %m dims = [0, 1] : (tensor<16x128xf32>) -> tensor<16x128x128xf32>
  %dd = weft.subtract %s, %mb : tensor<16x128x128xf32>
  %e = weft.exponential %dd : tensor<16x128x128xf32>
  %su = weft.reduce sum, %e dims = [2] : (tensor<16x128x128xf32>) -> tensor<16x128xf32>
  %sb = weft.broadcast_in_dim %su dims = [0, 1] : (tensor<16x128xf32>) -> tensor<16x128x128xf32>
  %p = weft.divide %e, %sb : tensor<16x128x128xf32>
  %y = weft.dot_general %p, %v batch = [0] x [0] contract = [2] x [1] : (tensor<16x128x128xf32>, tensor<16x128x64xf32>) -> tensor<16x128x64xf32>
  return %y : tensor<16x128x64xf32>
}

// -----

// A network of two layers, its squared error and the gradients of both weights: five matrix multiplications with what follows each, the
// sum of squares, the scaled difference, which two of them need, and the slope of tanh, which one takes as an operand.
// CHECK: kernels: 8, bytes: 92274692
func.func @main(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>, %v: tensor<1024x1024xf32>, %t: tensor<1024x1024xf32>)
    -> (tensor<f32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %scale = weft.constant dense<0.001> : tensor<f32>
  %scales = weft.broadcast_in_dim %scale dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
  %one = weft.constant dense<1.0> : tensor<f32>
  %ones = weft.broadcast_in_dim %one dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
  %z = weft.dot_general %x, %w contract = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %h = weft.tanh %z : tensor<1024x1024xf32>
  %p = weft.dot_general %h, %v contract = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %d = weft.subtract %p, %t : tensor<1024x1024xf32>
  %q = weft.multiply %d, %d : tensor<1024x1024xf32>
  %loss = weft.reduce sum, %q dims = [0, 1] : (tensor<1024x1024xf32>) -> tensor<f32>
  %gp = weft.multiply %d, %scales : tensor<1024x1024xf32>
  %gv = weft.dot_general %h, %gp contract = [0] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %gh = weft.dot_general %gp, %v contract = [1] x [1] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %hh = weft.multiply %h, %h : tensor<1024x1024xf32>
  %slope = weft.subtract %ones, %hh : tensor<1024x1024xf32>
  %gz = weft.multiply %gh, %slope : tensor<1024x1024xf32>
  %gw = weft.dot_general %x, %gz contract = [0] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %loss, %gv, %gw : tensor<f32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
